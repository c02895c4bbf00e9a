// Messages of any length between a rank and its neighbours, by which they agree on graphs and plans.
#pragma once

#include <longshore/transport/detail/neighbour_handshake.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

/// Numbers of which all ranks learn the largest: as many on each rank.
using agreed_numbers = std::vector<std::int64_t>;
/// Gets the largest numbers of all ranks. It throws on all ranks or on none.
using when_agreed = std::function<void(const agreed_numbers&)>;

/// Collective. messages[r] goes to rank r; the result is indexed by rank as well. Calls `agreed`
/// before long messages are sent. One alltoall of at most 512 bytes per rank, which carries the
/// numbers and short messages; and an alltoallv if any rank has a longer message, except to
/// processes of the node with which it has shared a direct plan: these read up to 1 MiB of messages
/// in its memory.
[[nodiscard]] std::vector<std::vector<std::byte>> exchange_with_all(
    team& ranks, const std::vector<std::vector<std::byte>>& messages, const agreed_numbers& numbers,
    const when_agreed& agreed);

/// On fewer than 64 ranks, an exchange is an exchange_with_all(), which costs less than opening
/// channels. On more ranks the neighbours have channels (8 KiB each), so that an exchange costs
/// messages to neighbours only, and an allreduce for numbers that all ranks agree on.
class messenger {
 public:
  /// Collective. `peers` are the neighbours in ascending order, without this rank. Each peer has this
  /// rank among its own peers. On fewer than 64 ranks the constructor is local.
  messenger(team& ranks, std::vector<int> peers);
  /// Collective. A messenger for `destinations`, and for the ranks that have this rank among theirs.
  /// On fewer than 64 ranks the constructor is local, and all other ranks are peers.
  [[nodiscard]] static std::shared_ptr<messenger> to(team& ranks,
                                                     std::span<const int> destinations);
  /// Whether messengers of the team have channels.
  [[nodiscard]] static bool has_channels(const team& ranks) noexcept;

  [[nodiscard]] std::span<const int> peers() const noexcept { return peers_; }
  /// Collective. Sends messages[i] to peers()[i], and returns the messages of the peers. All ranks
  /// agree on the largest `numbers` before they read messages.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::vector<std::byte>>& messages, const agreed_numbers& numbers,
      const when_agreed& agreed);
  /// Collective. The same with some of the peers: messages[k] goes to peers()[which[k]], and so does
  /// the answer. REQUIRES: each of these peers chooses this rank, too.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange_with(
      std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages,
      const agreed_numbers& numbers, const when_agreed& agreed);
  /// Collective. Agrees on numbers without messages.
  void agree(const agreed_numbers& numbers, const when_agreed& agreed) {
    (void)exchange_with({}, {}, numbers, agreed);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return channels_ ? channels_->memory_bytes() : 0;
  }

 private:
  team& ranks_;
  std::vector<int> peers_;
  std::optional<neighbour_handshake> channels_;
};

}  // namespace longshore::detail
