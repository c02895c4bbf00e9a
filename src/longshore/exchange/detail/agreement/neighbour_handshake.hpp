// Exchanges handshake messages between a rank and its neighbours, which agree on a plan without a
// collective call.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// Messages of any length through small channels between neighbours, without a collective call. So
/// the cost of a plan does not grow with the number of ranks.
class neighbour_handshake {
 public:
  /// Collective. `peers` are the neighbours in ascending order, without this rank. Each peer has
  /// this rank among its own peers.
  neighbour_handshake(team& ranks, std::span<const int> peers);

  /// Sends messages[k] to peers[which[k]], and returns the message of that peer at k. REQUIRES: each
  /// of these peers also exchanges with this rank, and all make their exchanges in the same order.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange_with(
      std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages);
  /// The memory of the channels on this rank.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }

 private:
  team& ranks_;
  std::size_t memory_bytes_;
  std::unique_ptr<channel_set> channels_;
};

}  // namespace longshore::detail
