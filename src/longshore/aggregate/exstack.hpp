// exstack: bulk-synchronous aggregation. One buffer per destination; all ranks exchange their
// buffers together. The scheme and its two contracts are those of exstack in bale
// (github.com/jdevinney/bale); here a buffer is a slot of a channel, so that on one node an item is
// written once and read where it lies, and what arrives doubles as the barrier.
#pragma once

#include <longshore/aggregate/detail/store_item.hpp>
#include <longshore/aggregate/hop_report.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace longshore {

/// What a rank says of itself when it exchanges, and what all of them said: `failed` when one did,
/// `done` when all did, else `more`.
enum class progress : unsigned char { more, done, failed };

/// Items to any rank, in rounds:
///
///     progress all = progress::more;
///     while (all == progress::more) {
///       while (i < items.size() && stack.push(rank_of(items[i]), items[i])) ++i;
///       all = stack.exchange(i == items.size() ? progress::done : progress::more);
///       for (int peer = 0; peer < team.size(); ++peer) consume(stack.arrived<item>(peer));
///     }
///
/// Contracts: after exchange() every send buffer is empty, so that to each rank as many items can
/// be pushed as came from it without a check; items of one pair of ranks arrive in the order of
/// pushing. Hence replies to what arrived, pushed in that order and exchanged, come back in the
/// order of the questions, and need no tag.
///
/// Cost of an exchange: 1 message to each rank, of the items' bytes and 1 more, in an order that
/// starts behind the own rank, so that ranks in step never aim at one target; no barrier. The first
/// item waits for the slowest rank. Memory per rank: 2 buffers per destination, that is 2 x ranks x
/// buffer_bytes (twice that towards other nodes). For the one thread that owns the team.
class exstack {
 public:
  /// The buffer to one rank, for loops that fill it without a call: write at `next`, advance it,
  /// never beyond `end`.
  struct lane {
    std::byte* next;
    std::byte* end;
  };

  /// Collective. `buffer_bytes`: of the items that one exchange can carry to one rank; the same on
  /// all ranks.
  exstack(team& team, std::size_t buffer_bytes);
  exstack(const exstack&) = delete;
  exstack& operator=(const exstack&) = delete;

  /// Appends an item for `rank`; false when its buffer is full: exchange first. Local.
  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) noexcept {
    lane& to = lanes_[rank];
    if (static_cast<std::size_t>(to.end - to.next) < sizeof(Item)) return false;
    detail::store_item(to.next, item);
    to.next += sizeof(Item);
    return true;
  }

  /// Buffers by destination. Aligned to a cache line at their start. Valid until the next exchange.
  [[nodiscard]] lane* lanes() noexcept { return lanes_.data(); }

  /// Where the buffer to one rank begins.
  [[nodiscard]] std::byte* begin_of(int rank) const noexcept { return begins_[rank]; }

  /// Collective. Sends all buffers, returns when those of all ranks have arrived; what arrived
  /// before is gone.
  progress exchange(progress mine);

  /// What `peer` pushed for this rank before the last exchange, in its order, where it lies: valid
  /// until the next exchange. REQUIRES: `peer` pushed items of this type only.
  template <trivially_copyable Item>
  [[nodiscard]] std::span<const Item> arrived(int peer) const noexcept {
    const std::span<const std::byte> bytes = arrived_[peer];
    return {reinterpret_cast<const Item*>(bytes.data()), bytes.size() / sizeof(Item)};
  }

  /// The lowest rank that said `failed` in the last exchange, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// Bytes of items that fit into one buffer.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
  /// Messages and bytes that this rank sent since it was made, without those to itself;
  /// payload_bytes stays 0: the caller's to say.
  [[nodiscard]] const traffic& sent() const noexcept { return sent_; }

  /// What lies in buffers, for reports: which cannot be seen from bytes.
  struct contents {
    std::size_t item_bytes, capacity_items;
    std::size_t head_bytes = 0;  ///< before the items of a message
  };
  /// From now on exchanges are also counted in `account`, as those of items of that kind. `account`
  /// must outlive them.
  void count_in(engine_report& account, const contents& what) {
    account.hops.resize(1);
    account_ = &account;
    contents_ = what;
  }

 private:
  void send_all(progress mine);
  progress receive_all();
  void open_lanes();

  team& team_;
  std::size_t buffer_bytes_;
  // one each way per rank, in rank order, own one included
  std::unique_ptr<channel_set> channels_;
  std::vector<lane> lanes_;                          // by destination
  std::vector<std::byte*> begins_;                   // start of each lane's slot
  std::vector<std::span<const std::byte>> arrived_;  // by source
  // whether arrived_ are slots still to be released
  bool holds_arrived_ = false;
  int failed_rank_ = -1;
  traffic sent_;
  engine_report* account_ = nullptr;
  contents contents_ = {};
};

}  // namespace longshore
