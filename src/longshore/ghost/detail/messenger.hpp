// Messages of any length between a rank and its neighbours, by which they agree on graphs and plans.
#pragma once

#include <longshore/transport/mapped_memory.hpp>
#include <longshore/transport/neighbour_handshake.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

/// On up to 64 ranks, an exchange is an alltoall of sizes and an alltoallv, which costs less than
/// opening channels. On more ranks the neighbours have channels (8 KiB each), so that an exchange
/// costs messages to neighbours only.
class messenger {
 public:
  /// Collective. `peers` are the neighbours in ascending order, without this rank. Each peer has this
  /// rank among its own peers.
  messenger(team& ranks, std::vector<int> peers);

  [[nodiscard]] std::span<const int> peers() const noexcept { return peers_; }
  /// Collective. Sends messages[i] to peers()[i], and returns the messages of the peers.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::vector<std::byte>>& messages);
  /// Collective. As exchange(), with some of the peers: messages[k] goes to peers()[which[k]], and so
  /// does the answer. REQUIRES: each of these peers chooses this rank, too.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange_with(
      std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages);
  /// Collective. As exchange_with(), if all messages of all ranks have `bytes` bytes: takes one
  /// collective call instead of two.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange_equal(
      std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages,
      std::size_t bytes);
  /// The memory of the peers that this rank has mapped.
  [[nodiscard]] mapped_memory_cache& mappings() noexcept { return mappings_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return channels_ ? channels_->memory_bytes() : 0;
  }

 private:
  team& ranks_;
  std::vector<int> peers_;
  std::optional<neighbour_handshake> channels_;
  mapped_memory_cache mappings_;
};

}  // namespace longshore::detail
