// exstack: bulk-synchronous aggregation. There is one buffer per destination, and all ranks
// exchange their buffers together. Scheme, contract and name are those of exstack in bale
// (github.com/jdevinney/bale). But here a buffer is a slot of a channel, so within a node an item
// is written once and read in place. There is no barrier: an exchange ends when all messages have
// arrived.
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

/// The progress of one rank: the rank has `more` items to push, is `done`, or `failed`. The
/// progress of all ranks: `failed` if one rank failed, `done` if all ranks are done, else `more`.
enum class progress : unsigned char { more, done, failed };

namespace detail {

/// The sizes from which an exstack computes the number of items in a message. Without them, an
/// exstack knows only bytes.
struct message_sizes {
  std::size_t item_bytes, capacity_items;
  std::size_t header_bytes = 0;  ///< before the items of a message
};

}  // namespace detail

/// Sends items to any rank:
///
///     progress of_all = progress::more;
///     while (of_all == progress::more) {
///       while (i < items.size() && stack.push(rank_of(items[i]), items[i])) ++i;
///       of_all = stack.exchange(i == items.size() ? progress::done : progress::more);
///       for (int peer = 0; peer < team.size(); ++peer) consume(stack.arrived<item>(peer));
///     }
///
/// After exchange() every send buffer is empty: as many items as arrived from a rank can be pushed
/// to that rank without a check. Items of one pair of ranks arrive in the order of pushing. Hence
/// replies that are pushed in the order of the requests arrive in that order, and need no tag.
///
/// Cost of an exchange: 1 message to each rank, with the bytes of the items and 1 byte more; no
/// barrier. Each rank sends first to the rank after itself, so ranks do not all send to one rank at
/// a time. The first item waits for the slowest rank. Memory per rank, in buffers of
/// buffer_bytes: 2 to itself, 3 to each other rank of the node, 4 to each rank of another node. Only
/// the thread that owns the team may use an exstack.
class exstack {
 public:
  /// The receiver reads one slot while the sender fills the other slot. Two slots suffice, because a
  /// rank is never more than one exchange ahead of another.
  static constexpr int slots_per_channel = 2;

  /// Collective. `buffer_bytes`: the bytes of items that one exchange can carry to one rank; the
  /// same on all ranks.
  exstack(team& team, std::size_t buffer_bytes);
  exstack(const exstack&) = delete;
  exstack& operator=(const exstack&) = delete;
  ~exstack();

  /// Appends an item to the buffer to `rank`. Returns false if the buffer is full: exchange first.
  /// Local.
  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) noexcept {
    send_buffer& to = buffers_[rank];
    if (static_cast<std::size_t>(to.end - to.next) < sizeof(Item)) return false;
    detail::store_item(to.next, item);
    to.next += sizeof(Item);
    return true;
  }

  /// Collective. Sends all buffers and returns when the buffers of all ranks have arrived. Discards
  /// the items of the previous exchange. Takes the progress of this rank and returns the progress
  /// of all ranks.
  progress exchange(progress my_progress);

  /// The items that `peer` pushed to this rank before the last exchange, in the order of pushing.
  /// Valid until the next exchange. REQUIRES: `peer` pushed items of type Item only.
  template <trivially_copyable Item>
  [[nodiscard]] std::span<const Item> arrived(int peer) const noexcept {
    const std::span<const std::byte> bytes = arrived_[peer];
    return {reinterpret_cast<const Item*>(bytes.data()), bytes.size() / sizeof(Item)};
  }

  /// The lowest rank that passed `failed` to the last exchange, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// Messages and bytes that this rank sent to other ranks since the object was made. payload_bytes
  /// stays 0, because only the caller knows the payload.
  [[nodiscard]] const traffic& sent() const noexcept { return sent_; }

  // The other public calls are for loops of the library.

  struct send_buffer {
    std::byte* next;
    std::byte* end;
  };
  /// The free parts of the buffers, indexed by destination: write items at `next` and advance
  /// `next`, up to `end`. An empty buffer is aligned to a cache line. Valid until the next
  /// exchange.
  [[nodiscard]] send_buffer* buffers() noexcept { return buffers_.data(); }
  /// From now on, counts exchanges in `stats`, which must outlive them. `sizes` describes the
  /// messages. `replies`: whether the items are replies to requests.
  void count_exchanges_in(engine_stats& stats, const detail::message_sizes& sizes,
                          bool replies = false);

 private:
  void charge_items(std::string_view kind, std::size_t bytes);
  void send_all(progress my_progress);
  progress receive_all();
  void open_buffers();

  team& team_;
  std::size_t buffer_bytes_;
  // one channel each way per rank, in the order of ranks, including this rank
  std::unique_ptr<channel_set> channels_;
  std::vector<send_buffer> buffers_;                 // indexed by destination
  std::vector<std::byte*> begins_;                   // where buffers_ began; indexed by destination
  std::vector<std::span<const std::byte>> arrived_;  // indexed by source
  bool holds_arrived_ = false;  // whether the slots of arrived_ still have to be released
  int failed_rank_ = -1;
  traffic sent_;
  engine_stats* stats_ = nullptr;  // null if count_exchanges_in() was not called
  detail::message_sizes sizes_ = {};
  bool carries_replies_ = false;
};

}  // namespace longshore
