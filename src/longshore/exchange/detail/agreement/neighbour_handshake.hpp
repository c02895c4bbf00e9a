// Exchanges handshake messages between a rank and its neighbours, which agree on a plan without a
// collective call. So the cost of a plan does not grow with the number of ranks.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

class neighbour_handshake {
 public:
  /// Collective. `peers` are the neighbours in ascending order, without this rank. Each peer has
  /// this rank among its own peers.
  neighbour_handshake(team& ranks, std::vector<int> peers);

  [[nodiscard]] std::span<const int> peers() const noexcept { return peers_; }
  /// Sends messages[i] to peers()[i], and returns the messages of the peers to this rank. REQUIRES:
  /// all neighbours make the same number of exchanges in the same order.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::vector<std::byte>>& messages);
  /// Like exchange(), with some of the peers: sends messages[k] to peers()[which[k]], and returns
  /// the message of that peer at k. REQUIRES: each of these peers also exchanges with this rank.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange_with(
      std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages);
  /// The memory of the channels on this rank.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  team& ranks_;
  std::vector<int> peers_;
  std::unique_ptr<channel_set> channels_;
};

}  // namespace longshore::detail
