// Exchanges messages between a rank and its neighbours, so that they agree on graphs and plans.
#pragma once

#include <longshore/exchange/detail/agreement/neighbour_handshake.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

/// Numbers that ranks agree on. Each rank gives the same count of numbers, and learns the largest
/// of each over all ranks.
using agreed_numbers = std::vector<std::int64_t>;
/// A function that is called with the largest numbers of all ranks. It throws on all ranks or on
/// none.
using when_agreed = std::function<void(const agreed_numbers&)>;

/// Collective. messages[r] goes to rank r. Returns the received messages, indexed by rank. Calls
/// `agreed` before long messages are sent. Cost: an alltoall of at most 512 bytes per rank, with
/// the numbers and the short messages; and an alltoallv if any rank has a longer message. Processes
/// of the node that have shared a direct plan read long messages in the sender's memory instead, up
/// to 1 MiB per sender.
[[nodiscard]] std::vector<std::vector<std::byte>> exchange_with_all(
    team& ranks, const std::vector<std::vector<std::byte>>& messages, const agreed_numbers& numbers,
    const when_agreed& agreed);

/// On fewer than 64 ranks, an exchange calls exchange_with_all(), which costs less than opening
/// channels. On 64 ranks and more, neighbours have channels of 8 KiB each. An exchange then costs
/// one message per neighbour, and an allreduce of the numbers.
class messenger {
 public:
  /// Collective. `peers` are the neighbours in ascending order, without this rank. Each peer has this
  /// rank among its own peers. On fewer than 64 ranks the constructor is local.
  messenger(team& ranks, std::vector<int> peers);
  /// Collective. Makes a messenger whose peers are `destinations`, and the ranks that have this
  /// rank among their destinations. On fewer than 64 ranks the constructor is local, and all other
  /// ranks are peers.
  [[nodiscard]] static std::shared_ptr<messenger> to(team& ranks,
                                                     std::span<const int> destinations);
  /// Whether messengers of the team have channels.
  [[nodiscard]] static bool has_channels(const team& ranks) noexcept;

  [[nodiscard]] std::span<const int> peers() const noexcept { return peers_; }
  /// Collective. Whether the messengers of all ranks reach the `destinations` of their ranks.
  [[nodiscard]] bool reaches(std::span<const int> destinations) const;
  /// Collective. Sends messages[i] to peers()[i], and returns the messages of the peers. All ranks
  /// agree on the largest `numbers` before they read messages.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::vector<std::byte>>& messages, const agreed_numbers& numbers = {},
      const when_agreed& agreed = [](const agreed_numbers&) {});
  /// Collective. Like exchange(), with some of the peers. messages[k] goes to peers()[which[k]],
  /// and result k comes from there. REQUIRES: each of these peers chooses this rank, too.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange_with(
      std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages,
      const agreed_numbers& numbers = {}, const when_agreed& agreed = [](const agreed_numbers&) {});
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
