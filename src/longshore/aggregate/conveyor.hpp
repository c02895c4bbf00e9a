// conveyor: asynchronous aggregation over 1, 2 or 3 hops. Ranks never wait for each other as a
// whole; termination travels with the last buffers. The contract (states, order, back-pressure)
// follows conveyors of bale (uconvey.pdf).
#pragma once

#include <longshore/aggregate/detail/item_batch.hpp>
#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/aggregate/detail/quiescence.hpp>
#include <longshore/aggregate/detail/route.hpp>
#include <longshore/aggregate/detail/store_item.hpp>
#include <longshore/aggregate/engine_options.hpp>

#include <algorithm>
#include <cassert>
#include <string_view>
#include <type_traits>
#include <utility>

namespace longshore {

namespace detail {

/// Collective. Whether all ranks have the same text, which is not empty; a rank without one asks
/// with the others.
[[nodiscard]] bool is_same_everywhere(team& team, std::string_view text);

}  // namespace detail

/// Satisfies item_engine (item_engine.hpp describes the calls).
///
/// Messages of one use per rank: on each hop one per buffer that fills, and one last, perhaps empty
/// one per link. No collective call: hop h + 1 ends at a rank when hop h has. Where items create
/// items, waves of counting end it instead (quiescence.hpp). Memory per rank: slots x buffers per
/// link (route.hpp says how many links), twice that between nodes; memory_bytes() sums it up. Bytes
/// on the wire: items, tags of 0 to 4 bytes (0 with 1 hop), and 1 byte per message. An exception
/// from a function given to drain leaves the engine to be destroyed only.
class conveyor {
 public:
  /// Collective. Throws errc::usage for options that make no sense.
  conveyor(team& team, const engine_options& options);

  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) {
    assert(sizeof(Item) == options_.item_bytes && !options_.elastic && rank >= 0 &&
           rank < team_.size());
    if (!routed_) return append(static_cast<std::uint32_t>(rank), item);
    const first_step step = first_[rank];
    detail::lane& to = lanes_[step.lane];
    if (to.next == to.end && !open(step.lane)) [[unlikely]]
      return false;
    // All is read before anything is written: to the compiler an item could lie anywhere, also over
    // `to`.
    std::byte *const next = to.next, *const end = to.end, *const tag_place = to.next_tag;
    const std::size_t tag_bytes = to.tag_bytes;
    to.next = next + sizeof(Item);
    to.next_tag = tag_place + tag_bytes;
    detail::store_item(next, item);
    std::memcpy(tag_place, &step.tag, sizeof step.tag);
    if (next + sizeof(Item) == end) [[unlikely]]
      filled(step.lane);
    return true;
  }

  /// As push, unless the buffer that the item would go to is open and has, at position `recent`, an
  /// item to the same rank for which is_same(const Item&) holds: then merge(Item&) changes that
  /// one, and nothing is appended. Else `recent` becomes the position of the new item. Any value
  /// may be given: it is a guess.
  template <trivially_copyable Item, class IsSame, class Merge>
  [[nodiscard]] bool push_or_merge(int rank, const Item& item, std::uint32_t& recent,
                                   IsSame&& is_same, Merge&& merge) {
    const first_step step = first_[rank];
    const detail::lane& to = lanes_[step.lane];
    std::uint32_t position = 0;
    if (to.next != to.end) [[likely]] {
      const hop& at = hops_[hop_of(step.lane)];
      auto* const items = reinterpret_cast<Item*>(at.porter->begin_of(step.lane - at.first_lane));
      position = static_cast<std::uint32_t>(reinterpret_cast<Item*>(to.next) - items);
      // Whether the guess lies in this buffer cannot be predicted; whether all is as sought mostly
      // can: one branch, no more.
      const bool is_here = recent < position;
      const std::uint32_t guess = is_here ? recent : 0;
      if (is_here & is_same(std::as_const(items[guess]))) {
        if (is_same_way(at, to, position - guess, step.tag)) {
          merge(items[guess]);
          return true;
        }
      }
    }
    if (!push(rank, item)) return false;
    recent = position;
    return true;
  }
  [[nodiscard]] bool can_push(int rank) {
    const std::uint32_t lane = first_[rank].lane;
    return lanes_[lane].next != lanes_[lane].end || open(lane);
  }

  // Not inlined: a call is nothing beside a batch of items, and loops that differ in what they send
  // share what they do with what arrives.
  template <trivially_copyable Item, class F>
  [[gnu::noinline]] std::size_t drain(F&& f) {
    return detail::drain_items<Item>(*this, f);
  }

  /// As drain, a message at a time: calls f(source_of, items), which returns how many it took;
  /// source_of(k) is the source of items[k], and its type says by `is_one` whether that is the same
  /// for all.
  template <trivially_copyable Item, class F>
  std::size_t drain_batches(F&& f) {
    assert(sizeof(Item) == options_.item_bytes && !options_.elastic);
    return for_each_arrived([&](detail::source& s) { return deliver<Item>(s, f); });
  }

  // Buffers written in place (fill.hpp): with one hop each rank has one.
  [[nodiscard]] bool has_rank_lanes() const noexcept { return !routed_; }
  [[nodiscard]] detail::lane& lane_to(int rank) {
    detail::lane& to = lanes_[rank];
    if (to.next == to.end) (void)open(static_cast<std::uint32_t>(rank));
    return to;
  }
  void settle(int rank) {
    const detail::lane& to = lanes_[rank];
    if (to.next == to.end) filled(static_cast<std::uint32_t>(rank));
  }

  // Elastic items: any size, 0 included; larger ones than a buffer are cut, and put together where
  // they arrive.

  /// As push. An item that no buffer can take whole is copied when the buffers are full; until the
  /// rest of it has gone, further ones are refused. Wire: 8 bytes per piece, padded to 8.
  [[nodiscard]] bool push_bytes(int rank, std::span<const std::byte> item);
  /// As drain, with f(source, span<const std::byte>): valid during the call, aligned to 8. Pieces
  /// wait for each other in memory that grows to the largest cut item per source.
  template <class F>
  std::size_t drain_bytes(F&& f) {
    assert(options_.elastic);
    return for_each_arrived([&](detail::source& s) { return deliver_pieces(s, f); });
  }

  /// Never blocks.
  [[nodiscard]] bool advance(bool done);
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  /// This rank cannot push all that it should: its last buffers tell all others. To be called
  /// before advance(true). Throws errc::unsupported where items create items: those ends come
  /// without last buffers.
  void fail_use();
  /// After the end of a use, until the next has ended: the lowest rank that failed it, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  void restart();

  [[nodiscard]] std::size_t activity() const noexcept;
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] const engine_options& options() const noexcept { return options_; }
  [[nodiscard]] int hops() const noexcept { return static_cast<int>(hops_.size()); }
  /// Links to other ranks (and itself), of all hops.
  [[nodiscard]] std::size_t link_count() const noexcept { return lanes_.size(); }
  /// Buffers of this rank, as explained above.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
  [[nodiscard]] engine_report report() const;
  /// Of the report the messages and bytes alone, without a copy of it.
  [[nodiscard]] traffic sent() const noexcept;
  /// Adds to the times of the report; for loops that wait on the engine's behalf.
  void waited(double seconds, bool for_slot) noexcept {
    (for_slot ? seconds_without_slot_ : seconds_nothing_arrived_) += seconds;
  }

 private:
  conveyor(team& team, const engine_options& options, const detail::rank_groups& groups,
           detail::stream_count streams);
  struct hop {
    std::unique_ptr<detail::porter> porter;
    std::uint32_t first_lane;  // its lanes are first_lane, first_lane + 1, ...
    unsigned destination_bits, lane_bits;
    std::uint32_t wire_mask;  // of the tag bytes in 4 bytes that are read
    bool finished;
  };
  struct first_step {
    std::uint32_t lane;  // counted through all hops
    std::uint32_t tag;
  };
  struct piece_header {
    std::uint32_t tag;
    std::uint32_t length;  // the top bit: more pieces follow
  };
  // How the tag of an item on one hop becomes that of the next; the same for all items of a
  // message.
  struct next_tag {
    std::uint32_t lane_mask, destination_mask;
    unsigned lane_bits, in_source_shift, out_source_shift;
    std::uint32_t fixed = 0;       // the source bits, when all items of the message have one source
    const int* sources = nullptr;  // by source bits of the tag, when the next hop names the rank
    std::uint32_t operator()(std::uint32_t tag) const noexcept {
      const auto way =
          static_cast<std::uint32_t>(std::uint64_t{tag & destination_mask} >> lane_bits);
      if (sources == nullptr) return way | fixed;
      return way |
             static_cast<std::uint32_t>(
                 std::uint64_t(sources[std::uint64_t{tag} >> in_source_shift]) << out_source_shift);
    }
  };
  struct piece_store;  // of elastic items that are not complete yet
  static constexpr std::uint32_t more_pieces = 0x80000000u;
  // at sources per call: with thousands of them a call stays short
  static constexpr std::size_t most_looks = 64;

  template <class Item>
  bool append(std::uint32_t lane, const Item& item) {
    detail::lane& to = lanes_[lane];
    if (to.next == to.end && !open(lane)) [[unlikely]]
      return false;
    std::byte *const next = to.next, *const end = to.end;
    to.next = next + sizeof(Item);
    detail::store_item(next, item);
    if (next + sizeof(Item) == end) [[unlikely]]
      filled(lane);
    return true;
  }

  template <class Consume>
  std::size_t for_each_arrived(Consume&& consume) {
    detail::porter& last = *hops_.back().porter;
    std::size_t delivered = 0;
    for (std::size_t looks = std::min(last.source_count(), most_looks); looks > 0; --looks)
      if (detail::source* s = last.look(last.take_turn())) {
        delivered += consume(*s);
        if (s->next == s->count) last.release(*s);
      }
    return delivered;
  }

  // Sources of the items of a batch, when each has its own.
  struct tagged_sources {
    static constexpr bool is_one = false;
    const conveyor& engine;
    const detail::source& s;
    std::size_t width;
    int operator()(std::size_t k) const {
      return engine.source_rank(
          s, tag_at(engine.hops_.back(), s, s.next + static_cast<std::uint32_t>(k), width));
    }
  };

  template <class Item, class F>
  std::size_t deliver(detail::source& s, F& f) {
    if (s.timed.position != detail::stamp::none) note_latency(s);
    const std::span<const Item> items(reinterpret_cast<const Item*>(s.items) + s.next,
                                      s.count - s.next);
    std::size_t taken = 0;
    if (!options_.with_source || hops() == 1)
      taken = f(detail::one_source{hops() == 1 ? s.peer : -1}, items);
    else
      taken = f(tagged_sources{*this, s, hops_.back().porter->format().tag_bytes}, items);
    s.next += static_cast<std::uint32_t>(taken);
    return taken;
  }

  template <class F>
  std::size_t deliver_pieces(detail::source& s, F& f);

  // The tag of item k; what lies behind it in the slot is read along and masked.
  static std::uint32_t tag_at(const hop& at, const detail::source& s, std::uint32_t k,
                              std::size_t width) {
    std::uint32_t tag;
    std::memcpy(&tag, s.tags + k * width, sizeof tag);
    return tag & at.wire_mask;
  }
  // Who pushed an item that came over the last hop, from the source bits of its tag.
  [[nodiscard]] int source_rank(const detail::source& s, std::uint32_t bits) const {
    if (hops() == 1) return s.peer;
    return hops() == 2 ? groups_.members(groups_.group_of(s.peer))[bits] : static_cast<int>(bits);
  }

  // Whether the item that many before the next one of a lane has this tag: then it goes to the same
  // rank.
  static bool is_same_way(const hop& at, const detail::lane& to, std::size_t before_next,
                          std::uint32_t tag) {
    if (to.tag_bytes == 0) return true;
    std::uint32_t its;
    std::memcpy(&its, to.next_tag - before_next * to.tag_bytes, sizeof its);
    return ((its ^ tag) & at.wire_mask) == 0;
  }

  void open_hops(detail::stream_count streams);
  [[nodiscard]] std::size_t hop_of(std::uint32_t lane) const noexcept {
    std::size_t h = hops_.size() - 1;
    while (lane < hops_[h].first_lane) --h;
    return h;
  }
  bool open(std::uint32_t lane);
  void filled(std::uint32_t lane);
  void tick();
  void relay();
  template <std::size_t ItemBytes>
  void relay_items(std::size_t from, detail::source& s);
  void relay_pieces(std::size_t from, detail::source& s);
  [[nodiscard]] next_tag tags_behind(std::size_t from, const detail::source& s) const;
  void note_latency(detail::source& s);
  [[nodiscard]] std::span<const std::byte> put_together(int from, std::span<const std::byte> piece,
                                                        bool is_cut);
  bool push_piece(std::uint32_t lane, std::uint32_t tag, std::span<const std::byte>& rest);
  void push_backlog();
  bool finish_hops();
  bool find_quiet(bool done);

  team& team_;
  engine_options options_;
  detail::rank_groups groups_;
  bool routed_;
  std::vector<detail::lane> lanes_;  // of all hops
  std::vector<first_step> first_;    // by rank
  std::vector<hop> hops_;
  std::unique_ptr<detail::quiescence> quiescence_;
  bool ended_ = false, use_failed_ = false;
  int failed_rank_ = -1;
  std::size_t activity_before_ = 0, memory_bytes_ = 0;
  double seconds_without_slot_ = 0, seconds_nothing_arrived_ = 0;
  time_histogram latency_;
  struct {
    int rank = -1;
    std::vector<std::byte> bytes;
    std::size_t sent = 0;
  } backlog_;  // the rest of an elastic item that found no room
  std::shared_ptr<piece_store> pieces_;
};

template <class F>
std::size_t conveyor::deliver_pieces(detail::source& s, F& f) {
  std::size_t delivered = 0;
  while (s.next < s.count) {
    const std::byte* const at = s.items + s.next * sizeof(piece_header);
    piece_header header;
    std::memcpy(&header, at, sizeof header);
    const std::size_t length = header.length & ~more_pieces;
    const bool is_cut = (header.length & more_pieces) != 0;
    const int from = source_rank(s, header.tag);
    const std::span<const std::byte> item =
        put_together(from, {at + sizeof header, length}, is_cut);
    if (!is_cut) {
      f(from, item);
      ++delivered;
    }
    s.next += static_cast<std::uint32_t>(1 + (length + sizeof header - 1) / sizeof header);
  }
  return delivered;
}

}  // namespace longshore
