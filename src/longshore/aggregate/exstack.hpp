// exstack: bulk-synchronous aggregation. There is one buffer per destination, and all ranks
// exchange their buffers together. Scheme, contracts and name are those of exstack in bale
// (github.com/jdevinney/bale). Here a buffer is a slot of a channel: within a node an item is
// written once and read in place. Receiving all messages takes the place of a barrier.
#pragma once

#include <longshore/aggregate/detail/store_item.hpp>
#include <longshore/aggregate/engine_stats.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace longshore {

/// The state of one rank in an exchange, and the state of all ranks: `failed` if one rank failed,
/// `done` if all ranks are done, else `more`.
enum class progress : unsigned char { more, done, failed };

namespace detail {

/// The items that buffers hold, which statistics cannot derive from bytes.
struct buffer_contents {
  std::size_t item_bytes, capacity_items;
  std::size_t header_bytes = 0;  ///< before the items of a message
};

struct exstack_access;

}  // namespace detail

/// Items to any rank, in rounds:
///
///     progress all = progress::more;
///     while (all == progress::more) {
///       while (i < items.size() && stack.push(rank_of(items[i]), items[i])) ++i;
///       all = stack.exchange(i == items.size() ? progress::done : progress::more);
///       for (int peer = 0; peer < team.size(); ++peer) consume(stack.arrived<item>(peer));
///     }
///
/// Contracts: after exchange() every send buffer is empty, so as many items as came from a rank can
/// be pushed to it without a check. Items of one pair of ranks arrive in the order of pushing.
/// Hence replies that are pushed in the order of the requests arrive in that order, and need no
/// tag.
///
/// Cost of an exchange: 1 message to each rank, with the bytes of the items and 1 more; no barrier.
/// Each rank sends first to the rank after itself, so ranks in step do not all send to one rank.
/// The first item waits for the slowest rank. Memory per rank: 2 buffers per destination, that is 2
/// x ranks x buffer_bytes (twice that for other nodes). For use by the thread that owns the team.
class exstack {
 public:
  /// Collective. `buffer_bytes`: bytes of items that one exchange can carry to one rank; the same
  /// on all ranks.
  exstack(team& team, std::size_t buffer_bytes);
  exstack(const exstack&) = delete;
  exstack& operator=(const exstack&) = delete;

  /// Appends an item to the buffer of `rank`. False if the buffer is full: exchange first. Local.
  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) noexcept {
    send_buffer& to = buffers_[rank];
    if (static_cast<std::size_t>(to.end - to.next) < sizeof(Item)) return false;
    detail::store_item(to.next, item);
    to.next += sizeof(Item);
    return true;
  }

  /// Collective. Sends all buffers and returns when the buffers of all ranks have arrived. Items
  /// that arrived before are then gone.
  progress exchange(progress mine);

  /// The items that `peer` pushed to this rank before the last exchange, in its order and in place.
  /// Valid until the next exchange. REQUIRES: `peer` pushed items of this type only.
  template <trivially_copyable Item>
  [[nodiscard]] std::span<const Item> arrived(int peer) const noexcept {
    const std::span<const std::byte> bytes = arrived_[peer];
    return {reinterpret_cast<const Item*>(bytes.data()), bytes.size() / sizeof(Item)};
  }

  /// The lowest rank that passed `failed` to the last exchange, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// Bytes of items that fit into one buffer.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
  /// Messages and bytes that this rank sent to others since the object was made. payload_bytes
  /// stays 0: only the caller knows it.
  [[nodiscard]] const traffic& sent() const noexcept { return sent_; }

 private:
  friend struct detail::exstack_access;
  struct send_buffer {
    std::byte* next;
    std::byte* end;
  };

  void send_all(progress mine);
  progress receive_all();
  void open_buffers();

  team& team_;
  std::size_t buffer_bytes_;
  // one each way per rank, in rank order, including the own rank
  std::unique_ptr<channel_set> channels_;
  std::vector<send_buffer> buffers_;                 // by destination
  std::vector<std::byte*> begins_;                   // start of the slot of each buffer
  std::vector<std::span<const std::byte>> arrived_;  // by source
  // whether the slots of arrived_ still have to be released
  bool holds_arrived_ = false;
  int failed_rank_ = -1;
  traffic sent_;
  engine_stats* stats_ = nullptr;
  detail::buffer_contents contents_ = {};
};

/// Calls of exstack that only the loops of this library make.
struct detail::exstack_access {
  using send_buffer = exstack::send_buffer;

  /// The free parts of the buffers, by destination: write at `next` and advance it, up to `end`. At
  /// their start they are aligned to a cache line. Valid until the next exchange.
  static send_buffer* buffers(exstack& stack) noexcept { return stack.buffers_.data(); }
  /// The first item in the buffer to `rank`.
  static std::byte* begin_of(const exstack& stack, int rank) noexcept {
    return stack.begins_[rank];
  }
  /// From now on, `stats` counts the exchanges of `stack`, whose buffers hold `contents`. `stats`
  /// must outlive these exchanges.
  static void count_in(exstack& stack, engine_stats& stats, const buffer_contents& contents) {
    stats.hops.resize(1);
    stack.stats_ = &stats;
    stack.contents_ = contents;
  }
};

}  // namespace longshore
