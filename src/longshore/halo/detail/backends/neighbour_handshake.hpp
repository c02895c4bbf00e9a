// The handshake of a rank with its neighbours on the node, by which they agree on a plan. A plan
// needs no collective call for it, and its cost does not grow with the number of ranks.
#pragma once

#include <longshore/halo/detail/backends/mapped_memory.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

class neighbour_handshake {
 public:
  /// Collective. `peers`: the neighbours on the node in ascending order, without the rank itself.
  /// Each peer names this rank, too.
  neighbour_handshake(team& ranks, std::vector<int> peers);

  [[nodiscard]] std::span<const int> peers() const noexcept { return peers_; }
  /// Sends messages[i] to peers()[i], and returns the messages of the peers to this rank. All
  /// neighbours make the same number of exchanges in the same order.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::vector<std::byte>>& messages);
  /// The memory of the peers that this rank has mapped.
  [[nodiscard]] mapped_neighbours& mapped() noexcept { return mapped_; }

 private:
  team& ranks_;
  std::vector<int> peers_;
  std::unique_ptr<channel_set> channels_;
  mapped_neighbours mapped_;
};

/// The handshake of the neighbours in a grid. The first call is collective. After it, destroying
/// the last of the grid, its copies and its plans is collective, too.
[[nodiscard]] const std::shared_ptr<neighbour_handshake>& handshake_of(const rank_grid& grid);

}  // namespace longshore::detail
