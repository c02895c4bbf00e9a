// conveyor: asynchronous aggregation over 1, 2 or 3 hops. No call waits for all ranks, and the last
// buffer of each link carries the mark that ends a use. The contract (states, order, back-pressure)
// is that of conveyors in bale (uconvey.pdf), as are the terms conveyor and elastic.
#pragma once

#include <longshore/aggregate/detail/drain_items.hpp>
#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/aggregate/detail/route.hpp>
#include <longshore/aggregate/detail/store_item.hpp>
#include <longshore/aggregate/detail/termination_detector.hpp>
#include <longshore/aggregate/engine_options.hpp>

#include <algorithm>
#include <cassert>
#include <string_view>
#include <type_traits>
#include <utility>

namespace longshore {

namespace detail {

/// Collective. Whether all ranks pass the same text and it is not empty.
[[nodiscard]] bool is_same_everywhere(team& team, std::string_view text);

}  // namespace detail

/// Satisfies item_engine; item_engine.hpp describes push, can_push, drain, advance, restart and
/// activity.
///
/// Messages per rank and use, on each hop: one per buffer that fills, and a last one per link,
/// which may be empty. A use needs no collective call: hop h + 1 ends at a rank once hop h has
/// ended there. With items_create_items, a detector that counts messages finds the end instead
/// (termination_detector.hpp). Memory per rank: `slots` buffers per link, twice that for links
/// between nodes (route.hpp has the number of links); memory_bytes() returns the sum. Bytes on the
/// wire: items, tags of 0 to 4 bytes per item (0 with 1 hop), and 1 byte per message. If a function
/// that was given to drain throws, the engine can only be destroyed.
class conveyor {
 public:
  /// Collective. Throws errc::usage for invalid options.
  conveyor(team& team, const engine_options& options);

  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) {
    assert(sizeof(Item) == options_.item_bytes && !options_.elastic && rank >= 0 &&
           rank < team_.size());
    if (!routed_) return append(static_cast<std::uint32_t>(rank), item);
    const first_step step = first_[rank];
    detail::tagged_buffer& to = buffers_[step.link];
    if (to.next == to.end && !open(step.link)) [[unlikely]]
      return false;
    // All members are read before any store: the compiler must assume that storing an item changes
    // `to`.
    std::byte *const next = to.next, *const end = to.end, *const tag_place = to.next_tag;
    const std::size_t tag_bytes = to.tag_bytes;
    to.next = next + sizeof(Item);
    to.next_tag = tag_place + tag_bytes;
    detail::store_item(next, item);
    std::memcpy(tag_place, &step.tag, sizeof step.tag);
    if (next + sizeof(Item) == end) [[unlikely]]
      filled(step.link);
    return true;
  }
  [[nodiscard]] bool can_push(int rank) {
    const std::uint32_t link = first_[rank].link;
    return buffers_[link].next != buffers_[link].end || open(link);
  }

  // Not inlined: one call per batch of items is cheap, and loops with different senders then share
  // one copy of the receiving code.
  template <trivially_copyable Item, class F>
  [[gnu::noinline]] std::size_t drain(F&& f) {
    return detail::drain_items<Item>(*this, f);
  }

  // Elastic items have any size, including 0. An item that is larger than a buffer is cut into
  // pieces and assembled at its destination.

  /// As push. If the buffers fill up in the middle of an item, the conveyor keeps a copy of its
  /// rest, and refuses further items until the rest was sent. Bytes on the wire: 8 per piece, and
  /// padding to 8.
  [[nodiscard]] bool push_bytes(int rank, std::span<const std::byte> item);
  /// As drain, with f(source, span<const std::byte>). The span is valid during the call and aligned
  /// to 8. Memory: it grows to the largest cut item per source.
  template <class F>
  std::size_t drain_bytes(F&& f) {
    assert(options_.elastic);
    return for_each_arrived([&](detail::incoming_message& s) { return deliver_pieces(s, f); });
  }

  /// Never blocks.
  [[nodiscard]] bool advance(bool done);
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  void restart();

  [[nodiscard]] std::size_t activity() const noexcept;
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] const engine_options& options() const noexcept { return options_; }
  [[nodiscard]] int hops() const noexcept { return static_cast<int>(hops_.size()); }
  /// Links to other ranks and to itself, of all hops.
  [[nodiscard]] std::size_t link_count() const noexcept { return buffers_.size(); }
  /// Memory of the buffers of this rank.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
  /// What this rank did since the engine was made.
  [[nodiscard]] engine_stats stats() const;
  [[deprecated("use stats()")]] [[nodiscard]] engine_stats report() const { return stats(); }
  /// The messages and bytes of stats(), without copying the rest.
  [[nodiscard]] traffic sent() const noexcept;

 private:
  friend struct detail::engine_access;  // item_engine.hpp describes the following calls

  template <trivially_copyable Item, class F>
  std::size_t drain_batches(F&& f) {
    assert(sizeof(Item) == options_.item_bytes && !options_.elastic);
    return for_each_arrived([&](detail::incoming_message& s) { return deliver<Item>(s, f); });
  }
  // With one hop, link r leads to rank r.
  [[nodiscard]] bool has_rank_buffers() const noexcept { return !routed_; }
  [[nodiscard]] detail::tagged_buffer& buffer_to(int rank) {
    detail::tagged_buffer& to = buffers_[rank];
    if (to.next == to.end) (void)open(static_cast<std::uint32_t>(rank));
    return to;
  }
  void appended_to(int rank) {
    const detail::tagged_buffer& to = buffers_[rank];
    if (to.next == to.end) filled(static_cast<std::uint32_t>(rank));
  }
  template <trivially_copyable Item, class IsSame, class Merge>
  [[nodiscard]] bool push_or_merge(int rank, const Item& item, std::uint32_t& recent,
                                   IsSame&& is_same, Merge&& merge) {
    const first_step step = first_[rank];
    const detail::tagged_buffer& to = buffers_[step.link];
    std::uint32_t position = 0;
    if (to.next != to.end) [[likely]] {
      const hop& at = hops_[hop_of(step.link)];
      auto* const items = reinterpret_cast<Item*>(at.porter->begin_of(step.link - at.first_link));
      position = static_cast<std::uint32_t>(reinterpret_cast<Item*>(to.next) - items);
      // One branch for both conditions: the processor predicts their conjunction better than the
      // first condition alone.
      const bool is_here = recent < position;
      const std::uint32_t guess = is_here ? recent : 0;
      if (is_here & is_same(std::as_const(items[guess]))) {
        if (has_tag(at, to, position - guess, step.tag)) {
          merge(items[guess]);
          return true;
        }
      }
    }
    if (!push(rank, item)) return false;
    recent = position;
    return true;
  }
  void fail_use();
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  void add_wait(double seconds, bool for_slot) noexcept {
    (for_slot ? seconds_without_slot_ : seconds_nothing_arrived_) += seconds;
  }

  conveyor(team& team, const engine_options& options, const detail::rank_groups& groups,
           detail::stream_count streams);
  struct hop {
    std::unique_ptr<detail::porter> porter;
    std::uint32_t first_link;  // the hop's links are first_link, first_link + 1, ...
    unsigned destination_bits, link_bits;
    std::uint32_t wire_mask;  // selects the bytes of a tag out of the 4 bytes that are read
    bool finished;
  };
  struct first_step {
    std::uint32_t link;  // numbered through all hops
    std::uint32_t tag;
  };
  struct piece_header {
    std::uint32_t tag;
    std::uint32_t length;  // the top bit is set if more pieces follow
  };
  // Converts the tag of an item on one hop into its tag on the next hop. All items of a message
  // share one converter.
  struct tag_converter {
    std::uint32_t link_mask, destination_mask;
    unsigned link_bits, in_source_shift, out_source_shift;
    std::uint32_t fixed = 0;  // the source bits, if all items of the message have one source
    // The rank for each value of the source bits, if the next hop's tags hold ranks.
    const int* sources = nullptr;
    std::uint32_t operator()(std::uint32_t tag) const noexcept {
      const auto remaining =
          static_cast<std::uint32_t>(std::uint64_t{tag & destination_mask} >> link_bits);
      if (sources == nullptr) return remaining | fixed;
      return remaining |
             static_cast<std::uint32_t>(
                 std::uint64_t(sources[std::uint64_t{tag} >> in_source_shift]) << out_source_shift);
    }
  };
  struct piece_store;  // elastic items of which some pieces are missing
  static constexpr std::uint32_t more_pieces = 0x80000000u;
  // Peers polled per call, so that a call stays short with thousands of peers.
  static constexpr std::size_t max_polls = 64;

  template <class Item>
  bool append(std::uint32_t link, const Item& item) {
    detail::tagged_buffer& to = buffers_[link];
    if (to.next == to.end && !open(link)) [[unlikely]]
      return false;
    std::byte *const next = to.next, *const end = to.end;
    to.next = next + sizeof(Item);
    detail::store_item(next, item);
    if (next + sizeof(Item) == end) [[unlikely]]
      filled(link);
    return true;
  }

  template <class Consume>
  std::size_t for_each_arrived(Consume&& consume) {
    detail::porter& last = *hops_.back().porter;
    std::size_t delivered = 0;
    for (std::size_t polls = std::min(last.peer_count(), max_polls); polls > 0; --polls)
      if (detail::incoming_message* s = last.poll(last.next_turn())) {
        delivered += consume(*s);
        if (s->next == s->count) last.release(*s);
      }
    return delivered;
  }

  // The sources of the items of a batch, if each item has its own.
  struct tagged_sources {
    static constexpr bool is_single = false;
    const conveyor& engine;
    const detail::incoming_message& s;
    std::size_t width;
    int operator()(std::size_t k) const {
      return engine.source_rank(
          s, tag_at(engine.hops_.back(), s, s.next + static_cast<std::uint32_t>(k), width));
    }
  };

  template <class Item, class F>
  std::size_t deliver(detail::incoming_message& s, F& f) {
    if (s.timed.position != detail::push_time::none) note_latency(s);
    const std::span<const Item> items(reinterpret_cast<const Item*>(s.items) + s.next,
                                      s.count - s.next);
    std::size_t taken = 0;
    if (!options_.with_source || hops() == 1)
      taken = f(detail::single_source{hops() == 1 ? s.peer : -1}, items);
    else
      taken = f(tagged_sources{*this, s, hops_.back().porter->format().tag_bytes}, items);
    s.next += static_cast<std::uint32_t>(taken);
    return taken;
  }

  template <class F>
  std::size_t deliver_pieces(detail::incoming_message& s, F& f);

  // The tag of item k. Always reads 4 bytes; the mask removes those after the tag.
  static std::uint32_t tag_at(const hop& at, const detail::incoming_message& s, std::uint32_t k,
                              std::size_t width) {
    std::uint32_t tag;
    std::memcpy(&tag, s.tags + k * width, sizeof tag);
    return tag & at.wire_mask;
  }
  // The rank that pushed an item, from the source bits of its tag on the last hop.
  [[nodiscard]] int source_rank(const detail::incoming_message& s, std::uint32_t bits) const {
    if (hops() == 1) return s.peer;
    return hops() == 2 ? groups_.members(groups_.group_of(s.peer))[bits] : static_cast<int>(bits);
  }

  // Whether the item that lies `before_next` items before the end of a buffer has this tag: then it
  // goes to the same rank.
  static bool has_tag(const hop& at, const detail::tagged_buffer& to, std::size_t before_next,
                      std::uint32_t tag) {
    if (to.tag_bytes == 0) return true;
    std::uint32_t its;
    std::memcpy(&its, to.next_tag - before_next * to.tag_bytes, sizeof its);
    return ((its ^ tag) & at.wire_mask) == 0;
  }

  void open_hops(detail::stream_count streams);
  [[nodiscard]] std::size_t hop_of(std::uint32_t link) const noexcept {
    std::size_t h = hops_.size() - 1;
    while (link < hops_[h].first_link) --h;
    return h;
  }
  bool open(std::uint32_t link);
  void filled(std::uint32_t link);
  void tick();
  void relay();
  template <std::size_t ItemBytes>
  void relay_items(std::size_t from, detail::incoming_message& s);
  void relay_pieces(std::size_t from, detail::incoming_message& s);
  [[nodiscard]] tag_converter tags_after(std::size_t from, const detail::incoming_message& s) const;
  void note_latency(detail::incoming_message& s);
  [[nodiscard]] std::span<const std::byte> assemble(int from, std::span<const std::byte> piece,
                                                    bool is_cut);
  bool push_piece(std::uint32_t link, std::uint32_t tag, std::span<const std::byte>& rest);
  void push_backlog();
  bool finish_hops();
  bool detect_termination(bool done);

  team& team_;
  engine_options options_;
  detail::rank_groups groups_;
  bool routed_;
  std::vector<detail::tagged_buffer> buffers_;  // by link, of all hops
  std::vector<first_step> first_;               // by rank
  std::vector<hop> hops_;
  std::unique_ptr<detail::termination_detector> termination_;
  bool ended_ = false, use_failed_ = false;
  int failed_rank_ = -1;
  std::size_t activity_before_ = 0, memory_bytes_ = 0;
  double seconds_without_slot_ = 0, seconds_nothing_arrived_ = 0;
  time_histogram latency_;
  struct {
    int rank = -1;
    std::vector<std::byte> bytes;
    std::size_t sent = 0;
  } backlog_;  // the rest of an elastic item that no buffer could take
  std::shared_ptr<piece_store> pieces_;
};

template <class F>
std::size_t conveyor::deliver_pieces(detail::incoming_message& s, F& f) {
  std::size_t delivered = 0;
  while (s.next < s.count) {
    const std::byte* const at = s.items + s.next * sizeof(piece_header);
    piece_header header;
    std::memcpy(&header, at, sizeof header);
    const std::size_t length = header.length & ~more_pieces;
    const bool is_cut = (header.length & more_pieces) != 0;
    const int from = source_rank(s, header.tag);
    const std::span<const std::byte> item = assemble(from, {at + sizeof header, length}, is_cut);
    if (!is_cut) {
      f(from, item);
      ++delivered;
    }
    s.next += static_cast<std::uint32_t>(1 + (length + sizeof header - 1) / sizeof header);
  }
  return delivered;
}

}  // namespace longshore
