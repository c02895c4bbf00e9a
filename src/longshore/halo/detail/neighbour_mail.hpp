// Letters between a rank and the neighbours on its node, by which plans agree without a collective
// call: a plan asks only those it exchanges with, however many ranks there are.
#pragma once

#include <longshore/halo/readable_memory.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

class neighbour_mail {
 public:
  /// Collective. `peers`: the neighbours on the node, without the rank itself, ascending; being a
  /// neighbour is mutual.
  neighbour_mail(team& ranks, std::vector<int> peers);

  [[nodiscard]] std::span<const int> peers() const noexcept { return peers_; }
  /// Sends letters[i] to peers()[i], and gives what they sent here. All neighbours make as many
  /// exchanges in the same order.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::vector<std::byte>>& letters);
  /// What this rank has mapped of its peers.
  [[nodiscard]] mapped_neighbours& mapped() noexcept { return mapped_; }

 private:
  team& ranks_;
  std::vector<int> peers_;
  std::unique_ptr<channel_set> channels_;
  mapped_neighbours mapped_;
};

}  // namespace longshore::detail
