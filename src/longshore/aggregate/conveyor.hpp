// conveyor: an engine that sends items over 1, 2 or 3 hops, so that buffers fill although there are
// many ranks. A hop is one step of an item from rank to rank; a link is a pair of ranks with a
// buffer on one hop (detail/route.hpp). No call waits for all ranks. exstack2 and aggregator are
// conveyors with other routes. Idea and terms: bale (uconvey.pdf).
#pragma once

#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/aggregate/detail/route.hpp>
#include <longshore/aggregate/detail/store_item.hpp>
#include <longshore/aggregate/detail/tagged_batch.hpp>
#include <longshore/aggregate/detail/termination_detector.hpp>
#include <longshore/aggregate/engine_options.hpp>
#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/detail/min_max.hpp>

#include <cassert>
#include <type_traits>
#include <utility>

namespace longshore {

/// item_engine.hpp says how to use the calls push, drain, advance, restart and activity.
///
/// The end of an epoch needs no collective call. A rank marks the last message of each link. When a
/// rank has received all last messages of a hop, it sends its own last messages of the next hop.
/// If items may create further items (option items_create_items), the end is found by counting
/// messages (detail/termination_detector.hpp).
///
/// Messages per rank and epoch, on each hop: one per buffer that fills, and one last message per
/// link, which may be empty. Bytes on the wire: the items; with 2 or 3 hops, a tag of 1 to 4 bytes
/// per item, which says where relaying ranks send the item; and 1 byte per message. Memory per
/// rank: options.slots buffers per link, one more for a link to another rank of the node, twice as
/// many for a link between nodes. Links between hosts get more memory, which options.memory_bytes
/// does not limit: on each hop up to 2 MiB for outgoing and 2 MiB for incoming messages
/// (stream_ends.hpp). If ranks relay items to other hosts, links within the host get up to 1 MiB per
/// hop. link_count() and memory_bytes() give the sums. If a function that was passed to drain throws,
/// the engine can only be destroyed.
class conveyor {
 public:
  /// Collective. Throws errc::usage for invalid options.
  conveyor(team& team, const engine_options& options);
  conveyor(conveyor&&) noexcept;
  ~conveyor();

  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) {
    assert(sizeof(Item) == options_.item_bytes && rank >= 0 && rank < team_.size());
    if (!has_several_hops_) return append(static_cast<std::uint32_t>(rank), item);
    const first_step step = first_steps_[rank];
    detail::tagged_buffer& to = buffers_[step.link];
    if (to.next == to.end && !open(step.link)) [[unlikely]]
      return false;
    // All members of `to` are read before any store: the compiler must assume that storing an item
    // changes `to`.
    std::byte *const next = to.next, *const end = to.end, *const next_tag = to.next_tag;
    const std::size_t tag_bytes = to.tag_bytes;
    to.next = next + sizeof(Item);
    to.next_tag = next_tag + tag_bytes;
    detail::store_item(next, item);
    std::memcpy(next_tag, &step.tag, sizeof step.tag);
    if (next + sizeof(Item) == end) [[unlikely]]
      filled(step.link);
    return true;
  }

  // Not inlined: several loops share one compiled copy. The call costs little, because it serves a
  // batch of items.
  template <trivially_copyable Item, class F>
  [[gnu::noinline]] std::size_t drain(F&& f) {
    return drain_messages<Item>([&f](auto source_of, std::span<const Item> items) {
      std::size_t k = 0;
      if constexpr (std::is_same_v<std::invoke_result_t<F&, int, const Item&>, bool>) {
        while (k < items.size() && f(source_of(k), items[k])) ++k;
      } else {
        for (; k < items.size(); ++k) f(source_of(k), items[k]);
      }
      return k;
    });
  }

  /// Never blocks.
  [[nodiscard]] bool advance(bool done);
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  void restart();

  [[nodiscard]] std::size_t activity() const noexcept;
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] const engine_options& options() const noexcept { return options_; }
  [[nodiscard]] int hops() const noexcept { return static_cast<int>(hops_.size()); }
  /// Links of all hops, including links to this rank itself.
  [[nodiscard]] std::size_t link_count() const noexcept { return buffers_.size(); }
  /// The number of items for which the slots of all links between hosts have room. In each hop the
  /// rank with the most such links counts, so all ranks get the same number.
  [[nodiscard]] std::size_t items_between_hosts() const noexcept { return items_between_hosts_; }
  /// The memory of the buffers of this rank.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
  [[nodiscard]] engine_stats stats() const;
  /// The messages and bytes of stats(), without copying the rest.
  [[nodiscard]] traffic sent() const noexcept;

  // The other public calls are for loops of the library, such as deliver and request_reply.

  /// Like drain, but passes one message at a time. Calls f(source_of, items), which returns how many
  /// of the items it took. source_of(k) is the source of items[k]. source_of.is_single says whether
  /// all items of the message have the same source.
  template <trivially_copyable Item, class F>
  std::size_t drain_messages(F&& f) {
    assert(sizeof(Item) == options_.item_bytes);
    return for_each_arrived([&](auto& inbox) { return deliver<Item>(inbox, f); });
  }
  /// Whether link r leads to rank r, as with one hop. If so, loops may call buffer_to and
  /// finish_append_to.
  [[nodiscard]] bool has_rank_buffers() const noexcept { return !has_several_hops_; }
  /// The buffer to `rank`: append items at `next`, up to `end`. If next == end, no buffer is free.
  [[nodiscard]] detail::tagged_buffer& buffer_to(int rank) {
    detail::tagged_buffer& to = buffers_[rank];
    if (to.next == to.end) (void)open(static_cast<std::uint32_t>(rank));
    return to;
  }
  /// To be called after items were appended to buffer_to(rank). Sends the buffer if it is full.
  void finish_append_to(int rank) {
    const detail::tagged_buffer& to = buffers_[rank];
    if (to.next == to.end) filled(static_cast<std::uint32_t>(rank));
  }
  /// Without rank buffers: how many items the next batch may push, at most `wanted`. 0 if a batch
  /// does not pay.
  template <trivially_copyable Item>
  [[nodiscard]] std::size_t tagged_batch_size(std::size_t wanted) {
    return detail::tagged_batch::size(buffers_, sizeof(Item), wanted, [this](std::size_t link) {
      return open(static_cast<std::uint32_t>(link));
    });
  }
  /// Calls append(push), which may call push(rank, item) as often as tagged_batch_size() said.
  /// Items that it has pushed are sent even if it throws.
  template <trivially_copyable Item, class Append>
  void push_tagged_batch(Append&& append) {
    detail::tagged_batch batch(buffers_.data());
    const first_step* const first_steps = first_steps_.get();
    const auto push = [&batch, first_steps](int rank, const Item& item) {
      const first_step step = first_steps[rank];
      detail::store_item(batch.take(step.link, step.tag, sizeof(Item)), item);
    };
    const auto commit = [&] {
      batch.commit(buffers_, sizeof(Item),
                   [this](std::size_t link) { filled(static_cast<std::uint32_t>(link)); });
    };
    try {
      append(push);
    } catch (...) {
      commit();
      throw;
    }
    commit();
  }
  /// Like push, but may merge the item into an earlier one. If the item at position `recent` of the
  /// same buffer goes to the same rank and is_same(const Item&) holds for that item, merge(Item&)
  /// changes that item and nothing is appended. Otherwise `recent` becomes the position of the new
  /// item. On entry `recent` may have any value.
  template <trivially_copyable Item, class IsSame, class Merge>
  [[nodiscard]] bool push_or_merge(int rank, const Item& item, std::uint32_t& recent,
                                   IsSame&& is_same, Merge&& merge) {
    const first_step step = first_steps_[rank];
    const detail::tagged_buffer& to = buffers_[step.link];
    std::uint32_t position = 0;
    if (to.next != to.end) [[likely]] {
      const hop_state& hop = hops_[hop_of(step.link)];
      auto* const items = reinterpret_cast<Item*>(hop.porter->begin_of(step.link - hop.first_link));
      position = static_cast<std::uint32_t>(reinterpret_cast<Item*>(to.next) - items);
      // One branch for two conditions: the processor predicts their conjunction better than the
      // first condition alone.
      const bool is_in_buffer = recent < position;
      const std::uint32_t guess = is_in_buffer ? recent : 0;
      if (is_in_buffer & is_same(std::as_const(items[guess]))) {
        if (has_tag(hop, to, position - guess, step.tag)) {
          merge(items[guess]);
          return true;
        }
      }
    }
    if (!push(rank, item)) return false;
    recent = position;
    return true;
  }
  /// Uses the routes of `other`, an engine of the same team, if they are equal.
  void share_routes(const conveyor& other) noexcept;
  /// Until the epoch ends, this rank sends partial buffers while it is idle.
  void ship_when_idle() noexcept { ships_when_idle_ = true; }
  [[nodiscard]] bool ships_when_idle() const noexcept { return ships_when_idle_; }
  /// For a rank that can push its other items only after items that it receives. Does the same as
  /// ship_when_idle(), and marks the messages of this rank as urgent. Each rank that receives an
  /// urgent message does the same. While such a rank is idle, it also sends an empty message on each
  /// link that has carried no urgent message. So no item of this rank stays in a buffer on its way.
  void make_epoch_urgent() noexcept;
  /// Says that this rank cannot push all its items; its last buffers tell the other ranks. To be
  /// called before advance(true). Throws errc::unsupported with items_create_items, because such an
  /// epoch ends without last buffers.
  void fail_epoch();
  /// After an epoch and until the end of the next one: the lowest rank that failed the epoch, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// Adds to the wait times of stats(). `for_slot`: the rank waited because a push was refused;
  /// otherwise, because nothing arrived.
  void add_wait(double seconds, bool for_slot) noexcept {
    (for_slot ? seconds_without_slot_ : seconds_nothing_arrived_) += seconds;
  }

 private:
  conveyor(team& team, const engine_options& options, const detail::rank_groups& groups,
           detail::stream_count streams);
  struct hop_state {
    std::unique_ptr<detail::porter> porter;
    std::uint32_t first_link;              // the hop's links are first_link, first_link + 1, ...
    unsigned destination_bits, link_bits;  // the fields of a tag (route::hop_links)
    std::uint32_t tag_mask;                // selects the tag_bytes bytes of a tag
    bool finished;                         // the last buffers of this epoch were sent
  };
  struct first_step {
    std::uint32_t link;  // an index into buffers_
    std::uint32_t tag;
  };
  // Computes the tag of an item on the next hop from its tag on this hop, as drawn at route::step:
  // removes the link of the next hop, and adds the source. All items of a message share one
  // converter.
  struct tag_converter {
    std::uint32_t link_mask, destination_mask;
    unsigned link_bits, in_source_shift, out_source_shift;
    // The source bits of all items of the message, if `sources` is null.
    std::uint32_t common_source_bits = 0;
    // If not null: sources[s] is the source on the next hop of an item with source s on this hop.
    const int* sources = nullptr;
    std::uint32_t operator()(std::uint32_t tag) const noexcept {
      const auto remaining =
          static_cast<std::uint32_t>(std::uint64_t{tag & destination_mask} >> link_bits);
      if (sources == nullptr) return remaining | common_source_bits;
      return remaining |
             static_cast<std::uint32_t>(
                 std::uint64_t(sources[std::uint64_t{tag} >> in_source_shift]) << out_source_shift);
    }
  };
  // The most peers that one call polls, so that a call stays short with thousands of peers.
  static constexpr std::size_t max_polls = 64;

  template <class Item>
  bool append(std::uint32_t link, const Item& item) {
    detail::tagged_buffer& to = buffers_[link];
    if (to.next == to.end && !open(link)) [[unlikely]]
      return false;
    std::byte *const next = to.next, *const end = to.end;
    __builtin_prefetch(next + cache_line_bytes, 1);
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
    std::size_t polls = detail::smaller(last.peer_count(), max_polls);
    while (detail::peer_inbox* const inbox = last.poll_next(polls)) {
      delivered += consume(*inbox);
      if (inbox->next == inbox->count) last.release(*inbox);
    }
    return delivered;
  }

  // Gives the rank that pushed item k of a message, if the items have different sources. deliver()
  // passes a tagged_sources to the function of drain_messages().
  struct tagged_sources {
    static constexpr bool is_single = false;
    const conveyor& engine;
    const detail::peer_inbox& inbox;
    std::size_t tag_bytes;
    int operator()(std::size_t k) const {
      const auto item = inbox.next + static_cast<std::uint32_t>(k);
      return engine.source_rank(inbox, tag_at(engine.hops_.back(), inbox, item, tag_bytes));
    }
  };

  template <class Item, class F>
  std::size_t deliver(detail::peer_inbox& inbox, F& f) {
    if (inbox.timed.position != detail::push_time::none) add_latency(inbox);
    const std::span<const Item> items(reinterpret_cast<const Item*>(inbox.items) + inbox.next,
                                      inbox.count - inbox.next);
    std::size_t taken = 0;
    if (!options_.with_source || hops() == 1)
      taken = f(detail::single_source{hops() == 1 ? inbox.peer : -1}, items);
    else
      taken = f(tagged_sources{*this, inbox, hops_.back().porter->format().tag_bytes}, items);
    inbox.next += static_cast<std::uint32_t>(taken);
    return taken;
  }

  // The tag of item k of a message that arrived on `hop`. Reads 4 bytes, even if a tag has fewer.
  static std::uint32_t tag_at(const hop_state& hop, const detail::peer_inbox& inbox,
                              std::uint32_t k, std::size_t tag_bytes) {
    std::uint32_t tag;
    std::memcpy(&tag, inbox.tags + k * tag_bytes, sizeof tag);
    return tag & hop.tag_mask;
  }
  // The rank that pushed an item. With 1 hop, the message comes from this rank. With 2 hops, the
  // source is a position in the group of the relaying rank; with 3 hops, it is the rank itself.
  [[nodiscard]] int source_rank(const detail::peer_inbox& inbox, std::uint32_t source_bits) const {
    if (hops() == 1) return inbox.peer;
    if (hops() == 2) return groups_.member(groups_.group_of(inbox.peer), source_bits);
    return static_cast<int>(source_bits);
  }

  // Whether the item that lies `distance` items before `to.next` has this tag. Items of one buffer
  // with equal tags go to the same rank.
  static bool has_tag(const hop_state& hop, const detail::tagged_buffer& to, std::size_t distance,
                      std::uint32_t tag) {
    if (to.tag_bytes == 0) return true;
    std::uint32_t item_tag;
    std::memcpy(&item_tag, to.next_tag - distance * to.tag_bytes, sizeof item_tag);
    return ((item_tag ^ tag) & hop.tag_mask) == 0;
  }

  void open_hops(detail::stream_count streams);
  void open_hop(const detail::route& route, int hop, std::size_t slot_stride,
                detail::porter_options options);
  void keep_first_steps(detail::route& route);
  [[nodiscard]] std::size_t hop_of(std::uint32_t link) const noexcept {
    std::size_t h = hops_.size() - 1;
    while (link < hops_[h].first_link) --h;
    return h;
  }
  bool open(std::uint32_t link);
  void filled(std::uint32_t link);
  void relay();
  template <std::size_t ItemBytes>
  void relay_items(std::size_t from, detail::peer_inbox& inbox);
  template <std::size_t ItemBytes>
  std::uint32_t relay_batch(std::size_t from, detail::peer_inbox& inbox,
                            const tag_converter& convert);
  template <std::size_t ItemBytes>
  bool relay_checked(std::size_t from, detail::peer_inbox& inbox, const tag_converter& convert,
                     std::uint32_t max_items);
  [[nodiscard]] tag_converter tags_after(std::size_t from, const detail::peer_inbox& inbox) const;
  void add_latency(detail::peer_inbox& inbox);
  bool finish_hops();
  bool detect_termination(bool done);

  team& team_;
  engine_options options_;
  detail::rank_groups groups_;
  bool has_several_hops_;
  std::vector<detail::tagged_buffer> buffers_;       // indexed by link; first all links of hop 0
  std::shared_ptr<const first_step[]> first_steps_;  // indexed by rank
  std::vector<hop_state> hops_;
  std::unique_ptr<detail::termination_detector> termination_;  // if items_create_items
  bool ended_ = false, epoch_failed_ = false, ships_when_idle_;
  int failed_rank_ = -1;
  std::size_t last_activity_ = 0, memory_bytes_ = 0, items_between_hosts_ = 0;
  double seconds_without_slot_ = 0, seconds_nothing_arrived_ = 0;
  time_histogram latency_;
};

/// A conveyor with 1 hop: no tags, no relaying, and P links per rank for P ranks. Best with few
/// ranks or much memory. Name and contract are those of exstack2 in bale.
class exstack2 : public conveyor {
 public:
  /// Collective.
  exstack2(team& team, engine_options options) : conveyor(team, (options.hops = 1, options)) {}
};

/// A conveyor with one stream of messages per pair of nodes, which all ranks of the two nodes
/// share. So it sends few and full messages. Chapel's aggregators have a buffer per core and node,
/// and send more. The 3 hops of an item lead to the rank of the same node that owns the stream to
/// the destination's node, over this stream to that node, and to the destination. The ranks of a
/// node own its streams in turn. Groups are always the nodes. With L ranks per node and N nodes, a
/// rank has these links: up to L - 1 on the first hop; on the second N / L (if L > N, one rank in
/// L / N has one link, and the other ranks have none); L on the third.
///
/// The engine is a conveyor of one hop in three cases. On one node, no message leaves the node.
/// Between nodes of one rank, a pair of ranks is a pair of nodes. With few ranks, each rank fills a
/// buffer for every other rank.
class aggregator : public conveyor {
 public:
  /// Collective.
  aggregator(team& team, engine_options options)
      : conveyor(team, (options.hops = hops_on(team.nodes()), options.one_stream = true, options)) {
  }

  /// Up to this number of ranks, one hop is faster. Each further hop copies every item once more,
  /// and an item waits at each relaying rank until that rank has a core.
  static constexpr int max_ranks_of_one_hop = 128;

  [[nodiscard]] static int hops_on(const node_map& nodes) noexcept {
    return nodes.node_count() > 1 && nodes.largest_node() > 1 &&
                   nodes.rank_count() > max_ranks_of_one_hop
               ? 3
               : 1;
  }
};

}  // namespace longshore
