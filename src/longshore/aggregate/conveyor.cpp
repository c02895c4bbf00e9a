// Makes the hops of a conveyor from its route, advances them, and finds the end of an epoch: by the
// last buffers of each link, or by counting messages if items create items.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/detail/outstanding_requests.hpp>
#include <longshore/aggregate/engine_cost.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/agree_on_arguments.hpp>
#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/detail/is_same_on_all_ranks.hpp>
#include <longshore/transport/stream_ends.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

namespace longshore {
namespace {

constexpr int max_hops = 3;

// Leaves out buffer_items, which may differ between ranks. The smallest number holds for all ranks.
common_arguments arguments_of(const engine_options& options) {
  common_arguments same;
  same.add("item_bytes", options.item_bytes)
      .add("slots", options.slots)
      .add("hops", options.hops)
      .add("group_ranks", options.group_ranks)
      .add("one_stream", options.one_stream)
      .add("with_source", options.with_source)
      .add("items_create_items", options.items_create_items);
  return same;
}

// The slots of a link within a host, if items are relayed to other hosts. They keep the network
// busy while a relaying rank has no core. All `links` links of a rank on a hop take up to 1 MiB.
int relay_slots(std::size_t slot_bytes, std::size_t links, int min_slots) {
  constexpr std::size_t relayed_bytes = std::size_t{1} << 20, max_slots = 16;
  const std::size_t affordable = relayed_bytes / slot_bytes / std::max<std::size_t>(1, links);
  return std::max(min_slots, static_cast<int>(std::min(affordable, max_slots)));
}

// The number of links of a rank, and of its buffers if each link had one slot.
struct link_counts {
  std::size_t links = 0, buffers = 0, largest_tag_bytes = 0;
  std::array<std::int64_t, max_hops> between_hosts{}, within_hosts{};  // the larger of to and from
};

link_counts count_links(const node_map& nodes, const detail::route& route) {
  link_counts counts;
  for (int h = 0; h < route.hops(); ++h) {
    const auto& links = route.links(h);
    const auto count = [&](const std::vector<int>& peers, auto is_wanted) {
      return std::count_if(peers.begin(), peers.end(), is_wanted);
    };
    const auto on_host = [&](int peer) { return nodes.is_on_host(peer); };
    const auto off_host = [&](int peer) { return !nodes.is_on_host(peer); };
    const auto off_node = [&](int peer) { return !nodes.is_local(peer); };
    counts.links += links.to.size();
    // Within a node, a receiver reads the sender's buffer; between nodes, both ends have a buffer.
    counts.buffers += links.to.size() + static_cast<std::size_t>(count(links.from, off_node));
    counts.between_hosts[h] = std::max(count(links.to, off_host), count(links.from, off_host));
    counts.within_hosts[h] = std::max(count(links.to, on_host), count(links.from, on_host));
    counts.largest_tag_bytes = std::max(counts.largest_tag_bytes, links.tag_bytes);
  }
  return counts;
}

struct agreed_numbers {
  std::size_t buffer_items = 0;  // the least of all ranks
  // The number of links of each hop: the largest of all ranks.
  std::array<std::size_t, max_hops> between_hosts{}, within_hosts{};

  [[nodiscard]] bool has_several_hosts() const noexcept {
    return std::any_of(between_hosts.begin(), between_hosts.end(),
                       [](std::size_t links) { return links > 0; });
  }
};

// Collective: one allreduce. Throws errc::usage on all ranks if their options differ.
agreed_numbers agree(team& team, const engine_options& options, const link_counts& mine) {
  const common_arguments same = arguments_of(options);
  const std::size_t wanted =
      detail::choose_buffer_items(options.buffer_items, options.memory_bytes,
                                  mine.buffers * static_cast<std::size_t>(options.slots),
                                  options.item_bytes + mine.largest_tag_bytes);
  // The maximum of a negative number is the negative minimum.
  struct {
    std::int64_t hash, negative_hash, negative_buffer_items;
    std::array<std::int64_t, max_hops> between_hosts, within_hosts;
  } most{same.hash(), -same.hash(), -static_cast<std::int64_t>(wanted), mine.between_hosts,
         mine.within_hosts};
  std::array<std::int64_t, 3 + 2 * max_hops> numbers;
  static_assert(sizeof numbers == sizeof most);
  std::memcpy(numbers.data(), &most, sizeof most);
  team.allreduce(numbers, reduction::max);
  std::memcpy(&most, numbers.data(), sizeof most);
  if (most.hash != -most.negative_hash) detail::throw_for_other_arguments(team, "a conveyor", same);
  agreed_numbers agreed{.buffer_items = static_cast<std::size_t>(-most.negative_buffer_items)};
  std::copy(most.between_hosts.begin(), most.between_hosts.end(), agreed.between_hosts.begin());
  std::copy(most.within_hosts.begin(), most.within_hosts.end(), agreed.within_hosts.begin());
  return agreed;
}

// Whether all ranks run under one kernel, so that their clocks agree.
bool clocks_agree(team& team) {
  std::array<char, 36> boot_id{};
  std::ifstream("/proc/sys/kernel/random/boot_id").read(boot_id.data(), boot_id.size());
  return detail::is_same_on_all_ranks(team, boot_id) && boot_id.back() != 0;
}

void check_options(const engine_options& options) {
  if (options.slots < 1 || options.group_ranks < 0)
    fail(
        errc::usage,
        "an engine cannot have {} slots and groups of {} ranks: give at least 1 slot, and at least "
        "0 ranks (0: groups are the nodes)",
        options.slots, options.group_ranks);
  if (options.item_bytes < 1)
    fail(errc::usage, "an engine cannot carry items of 0 bytes: give item_bytes");
  if (options.buffer_items > 0xffffffffu)
    fail(errc::usage, "buffer_items is {}, and 2^32 - 1 is the maximum", options.buffer_items);
}

}  // namespace

conveyor::conveyor(team& team, const engine_options& options)
    : conveyor(team, options,
               options.one_stream ? detail::rank_groups(team.nodes())
                                  : detail::choose_groups(team.nodes(), team.size(), options.hops,
                                                          options.group_ranks),
               options.one_stream ? detail::stream_count::one : detail::stream_count::many) {}

conveyor::conveyor(team& team, const engine_options& options, const detail::rank_groups& groups,
                   detail::stream_count streams)
    : team_(team), options_(options), groups_(groups), ships_when_idle_(options.ship_when_idle) {
  check_options(options);
  if (options_.buffers_per_timed_item > 0 && !clocks_agree(team))
    options_.buffers_per_timed_item = 0;
  open_hops(streams);
  if (options_.items_create_items)
    termination_ = std::make_unique<detail::termination_detector>(team);
}

conveyor::conveyor(conveyor&&) noexcept = default;
conveyor::~conveyor() = default;

void conveyor::open_hops(detail::stream_count streams) {
  detail::route route(groups_, team_.rank(), options_.hops, options_.with_source, streams);
  has_several_hops_ = route.hops() > 1;
  keep_first_steps(route);
  const link_counts mine = count_links(team_.nodes(), route);
  const agreed_numbers agreed = agree(team_, options_, mine);
  options_.buffer_items = agreed.buffer_items;
  const std::size_t slot_stride = round_up(
      detail::message_layout{options_.item_bytes, options_.buffer_items, mine.largest_tag_bytes}
          .slot_bytes(),
      cache_line_bytes);
  if (team_.costs() != nullptr) {
    const std::size_t bytes_per_rank =
        sizeof(first_step) +
        (options_.carries_replies ? detail::outstanding_requests::list_bytes_per_rank : 0);
    team_.costs()->require_memory(static_cast<std::size_t>(team_.size()) * bytes_per_rank);
  }
  buffers_.resize(mine.links);
  // Push times are recorded only on hops that relay no items: this rank pushes all items of such a
  // hop.
  bool relays_nothing = true;
  for (int h = 0; h < route.hops(); ++h) {
    const int host_slots =
        slots_between_hosts(slot_stride, agreed.between_hosts[h], options_.slots);
    const int local_slots = has_several_hops_ && agreed.has_several_hosts()
                                ? relay_slots(slot_stride, agreed.within_hosts[h], options_.slots)
                                : options_.slots;
    open_hop(route, h, slot_stride,
             {.format = {},
              .slots = local_slots,
              .slots_between_hosts = host_slots,
              .buffers_per_timed_item = relays_nothing ? options_.buffers_per_timed_item : 0,
              .carries_replies = options_.carries_replies});
    items_between_hosts_ +=
        agreed.between_hosts[h] * static_cast<std::size_t>(host_slots) * options_.buffer_items;
    relays_nothing = relays_nothing && route.links(h).from.empty();
  }
}

void conveyor::open_hop(const detail::route& route, int hop, std::size_t slot_stride,
                        detail::porter_options options) {
  const auto& links = route.links(hop);
  const auto slots_of = [&](int peer) {
    return static_cast<std::size_t>(team_.nodes().is_on_host(peer) ? options.slots
                                                                   : options.slots_between_hosts);
  };
  for (const int peer : links.to) {
    const bool is_staged = peer != team_.rank() && team_.nodes().is_local(peer);
    memory_bytes_ += (slots_of(peer) + (is_staged ? 1 : 0)) * slot_stride;
  }
  for (const int peer : links.from)
    if (!team_.nodes().is_local(peer)) memory_bytes_ += slots_of(peer) * slot_stride;
  options.format = {options_.item_bytes, options_.buffer_items, links.tag_bytes};
  std::uint32_t first_link = 0;
  for (int h = 0; h < hop; ++h) first_link += static_cast<std::uint32_t>(route.links(h).to.size());
  hops_.push_back(
      {.porter = std::make_unique<detail::porter>(
           team_, links.to, links.from, options,
           std::span(buffers_).subspan(first_link, links.to.size())),
       .first_link = first_link,
       .destination_bits = links.destination_bits,
       .link_bits = links.link_bits,
       .tag_mask = static_cast<std::uint32_t>((std::uint64_t{1} << (8 * links.tag_bytes)) - 1),
       .finished = false});
}

// Called before the collective calls, so that ranks of one process do not all hold the lists of
// `route` at the same time.
void conveyor::keep_first_steps(detail::route& route) {
  std::array<std::uint32_t, max_hops> first_links{};  // indexed by hop
  for (int h = 1; h < route.hops(); ++h)
    first_links[h] = first_links[h - 1] + static_cast<std::uint32_t>(route.links(h - 1).to.size());
  const auto first_steps = std::make_shared<first_step[]>(route.first_steps().size());
  first_step* next = first_steps.get();
  for (detail::route::step step : route.take_first_steps()) {
    // The link of the first hop would name the source. An item that starts on a later hop needs the
    // source in its tag.
    if (options_.with_source && step.hop > 0) {
      const auto source = step.hop == 1 ? groups_.position_of(team_.rank()) : team_.rank();
      // The shift is made in 64 bits, because destination_bits may be 32.
      step.tag |=
          static_cast<std::uint32_t>(static_cast<std::uint64_t>(source)
                                     << route.links(static_cast<int>(step.hop)).destination_bits);
    }
    *next++ = {first_links[step.hop] + step.link, step.tag};
  }
  first_steps_ = first_steps;
}

void conveyor::share_routes(const conveyor& other) noexcept {
  const auto is_same = [](const first_step& a, const first_step& b) {
    return a.link == b.link && a.tag == b.tag;
  };
  if (std::equal(&first_steps_[0], &first_steps_[0] + team_.size(), &other.first_steps_[0],
                 is_same))
    first_steps_ = other.first_steps_;
}

bool conveyor::open(std::uint32_t link) {
  const hop_state& hop = hops_[hop_of(link)];
  return hop.porter->open(link - hop.first_link);
}

void conveyor::filled(std::uint32_t link) {
  const hop_state& hop = hops_[hop_of(link)];
  hop.porter->filled(link - hop.first_link);
}

void conveyor::add_latency(detail::peer_inbox& inbox) {
  latency_.add(team_.now() - inbox.timed.seconds);
  inbox.timed.position = detail::push_time::none;
}

bool conveyor::advance(bool done) {
  if (ended_) return false;
  relay();
  if (std::any_of(hops_.begin(), hops_.end(),
                  [](const hop_state& hop) { return hop.porter->is_urgent(); }))
    make_epoch_urgent();
  if (ships_when_idle_ || (options_.items_create_items && done)) {
    if (activity() == last_activity_)
      for (const auto& hop : hops_) hop.porter->send_all();
    last_activity_ = activity();
  }
  ended_ = options_.items_create_items ? detect_termination(done) : done && finish_hops();
  return !ended_;
}

// Ends each hop once the previous hop has ended at this rank. Returns true once all hops have ended
// and all items were drained. REQUIRES: this rank pushes no more.
bool conveyor::finish_hops() {
  // the lowest failed rank that is known so far
  int failed_rank = epoch_failed_ ? team_.rank() : detail::porter::nobody;
  for (std::size_t h = 0; h < hops_.size(); ++h) {
    if (h > 0 && !hops_[h - 1].porter->drained()) return false;
    if (!hops_[h].finished) hops_[h].finished = hops_[h].porter->finish(failed_rank);
    failed_rank = std::min(failed_rank, hops_[h].porter->failed_rank());
  }
  if (!std::all_of(hops_.begin(), hops_.end(), [](const hop_state& hop) { return hop.finished; }) ||
      !hops_.back().porter->drained())
    return false;
  failed_rank_ = failed_rank == detail::porter::nobody ? -1 : failed_rank;
  return true;
}

void conveyor::make_epoch_urgent() noexcept {
  ship_when_idle();
  for (const auto& hop : hops_) hop.porter->make_epoch_urgent();
}

void conveyor::fail_epoch() {
  if (options_.items_create_items)
    fail(errc::unsupported,
         "rank {} cannot fail an epoch of an engine with items_create_items: such an epoch ends "
         "without last buffers, which would tell the other ranks",
         team_.rank());
  epoch_failed_ = true;
}

// Whether no rank has anything to send and no message is in flight. REQUIRES: items_create_items.
bool conveyor::detect_termination(bool done) {
  bool passive = done;
  std::int64_t sent = 0, received = 0;
  for (const auto& hop : hops_) {
    passive = passive && !hop.porter->has_open_buffers();
    sent += static_cast<std::int64_t>(hop.porter->sent_messages());
    received += static_cast<std::int64_t>(hop.porter->consumed_messages());
  }
  return termination_->poll(passive, sent, received);
}

void conveyor::restart() {
  if (!ended_)
    fail(errc::usage,
         "rank {} called restart() before the epoch ended: call advance(true) and drain until "
         "advance returns false",
         team_.rank());
  for (auto& hop : hops_) {
    hop.porter->restart();
    hop.finished = false;
  }
  if (termination_) termination_->restart();
  epoch_failed_ = ended_ = false;
  ships_when_idle_ = options_.ship_when_idle;
}

std::size_t conveyor::activity() const noexcept {
  std::uint64_t messages = 0;
  for (const auto& hop : hops_)
    messages += hop.porter->sent_messages() + hop.porter->consumed_messages();
  return messages;
}

traffic conveyor::sent() const noexcept {
  traffic total;
  for (const auto& hop : hops_) total += hop.porter->stats().sent();
  return total;
}

engine_stats conveyor::stats() const {
  engine_stats stats{.seconds_without_slot = seconds_without_slot_,
                     .seconds_nothing_arrived = seconds_nothing_arrived_,
                     .latency = latency_};
  for (const auto& hop : hops_) stats.hops.push_back(hop.porter->stats());
  return stats;
}

}  // namespace longshore
