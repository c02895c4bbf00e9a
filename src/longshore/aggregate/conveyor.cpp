#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/detail/group_choice.hpp>
#include <longshore/aggregate/engine_plan.hpp>
#include <longshore/core/error.hpp>

#include <array>
#include <fstream>
#include <functional>
#include <string>

namespace longshore {
namespace {

using detail::source;

constexpr std::size_t least_elastic_words = 4;

// Whether all ranks run under one kernel, and hence read one clock.
bool clocks_agree(team& team) {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return detail::is_same_everywhere(team, boot);
}

void check_options(const engine_options& options) {
  if (options.slots < 1 || options.group_ranks < 0)
    fail(errc::usage,
         "an engine with {} slots and groups of {} ranks: at least 1 and 0 (the nodes) are needed",
         options.slots, options.group_ranks);
  if (!options.elastic && options.item_bytes < 1)
    fail(
        errc::usage,
        "an engine of items of 0 bytes carries nothing; give item_bytes, or ask for elastic items");
  if (options.elastic && options.buffer_items > 0 && options.buffer_items < least_elastic_words)
    fail(errc::usage, "elastic items need buffers of at least {} words of 8 bytes, not {}",
         least_elastic_words, options.buffer_items);
  if (options.buffer_items > 0xffffffffu)
    fail(errc::usage, "a buffer of {} items was asked for; 2^32 - 1 is the most",
         options.buffer_items);
}

}  // namespace

bool detail::is_same_everywhere(team& team, std::string_view text) {
  // can be negated
  const auto hash = static_cast<std::int64_t>(std::hash<std::string_view>{}(text) >> 1);
  std::array<std::int64_t, 3> most{text.empty() ? 1 : 0, hash, -hash};
  team.allreduce(most, reduction::max);
  return most[0] == 0 && most[1] == -most[2];
}

conveyor::conveyor(team& team, const engine_options& options)
    : conveyor(team, options,
               options.one_stream ? detail::rank_groups(team.nodes(), team.size())
                                  : detail::choose_groups(team.nodes(), team.size(), options.hops,
                                                          options.group_ranks),
               options.one_stream ? detail::stream_count::one : detail::stream_count::many) {}

conveyor::conveyor(team& team, const engine_options& options, const detail::rank_groups& groups,
                   detail::stream_count streams)
    : team_(team), options_(options), groups_(groups) {
  check_options(options);
  if (options_.elastic) {
    options_.item_bytes = sizeof(piece_header);
    options_.with_source = true;
    options_.stamp_every = 0;
  }
  if (options_.stamp_every > 0 && !clocks_agree(team)) options_.stamp_every = 0;
  open_hops(streams);
  if (options_.items_create_items) quiescence_ = std::make_unique<detail::quiescence>(team);
}

void conveyor::open_hops(detail::stream_count streams) {
  const detail::route way(groups_, team_.rank(), options_.hops, options_.with_source, streams);
  routed_ = way.hops() > 1;
  std::size_t lanes = 0, buffers = 0, largest_tag = 0;
  for (int h = 0; h < way.hops(); ++h) {
    const auto& links = way.links(h);
    lanes += links.to.size();
    // Within a node the sender's buffers are read where they lie; between nodes both ends have
    // theirs.
    buffers += links.to.size() + static_cast<std::size_t>(std::count_if(
                                     links.from.begin(), links.from.end(),
                                     [&](int p) { return !team_.nodes().is_local(p); }));
    largest_tag = std::max(largest_tag, links.tag_bytes);
  }
  buffers *= static_cast<std::size_t>(options_.slots);
  options_.buffer_items = team_.allreduce_value(
      detail::choose_buffer_items(options_.buffer_items, options_.memory_bytes, buffers,
                                  options_.item_bytes + largest_tag),
      reduction::min);
  if (options_.elastic)
    options_.buffer_items = std::max(options_.buffer_items, least_elastic_words);
  memory_bytes_ = buffers * round_up(detail::message_layout{options_.item_bytes,
                                                            options_.buffer_items, largest_tag}
                                         .slot_bytes(),
                                     cache_line_bytes);
  lanes_.resize(lanes);
  std::uint32_t first_lane = 0;
  // nothing is passed on to this hop: all its items are pushed here, and can be timed
  bool before_any = true;
  for (int h = 0; h < way.hops(); ++h) {
    const auto& links = way.links(h);
    // The pieces of elastic items carry their tag themselves.
    const std::size_t tag_bytes = options_.elastic ? 0 : links.tag_bytes;
    const detail::porter_options of_porter{
        .format = {options_.item_bytes, options_.buffer_items, tag_bytes},
        .slots = options_.slots,
        .stamp_every = before_any ? options_.stamp_every : 0};
    hops_.push_back(
        {.porter = std::make_unique<detail::porter>(
             team_, links.to, links.from, of_porter,
             std::span(lanes_).subspan(first_lane, links.to.size())),
         .first_lane = first_lane,
         .destination_bits = links.destination_bits,
         .lane_bits = links.lane_bits,
         .wire_mask = static_cast<std::uint32_t>((std::uint64_t{1} << (8 * links.tag_bytes)) - 1),
         .finished = false});
    first_lane += static_cast<std::uint32_t>(links.to.size());
    before_any = before_any && links.from.empty();
  }
  for (detail::route::step step : way.first_steps()) {
    // The source, where it is not said by the link of the first hop: the item's first hop may be
    // the second or third.
    if (options_.with_source && step.hop > 0) {
      const auto bits = step.hop == 1 ? groups_.place_of(team_.rank()) : team_.rank();
      step.tag |= static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits)
                                             << hops_[step.hop].destination_bits);
    }
    first_.push_back({hops_[step.hop].first_lane + step.lane, step.tag});
  }
  tick();
}

bool conveyor::open(std::uint32_t lane) {
  const hop& at = hops_[hop_of(lane)];
  return at.porter->open(lane - at.first_lane);
}

void conveyor::filled(std::uint32_t lane) {
  const hop& at = hops_[hop_of(lane)];
  at.porter->filled(lane - at.first_lane);
}

void conveyor::note_latency(source& s) {
  latency_.add(team_.now() - s.timed.seconds);
  s.timed.position = detail::stamp::none;
}

// Buffers get the time of the last tick. Hence a use begins with one: its first buffers are not as
// old as the use before.
void conveyor::tick() {
  const double now = options_.steady_seconds > 0 ? team_.now() : 0;
  for (const auto& at : hops_) at.porter->tick(now);
}

bool conveyor::advance(bool done) {
  if (ended_) return false;
  tick();
  if (backlog_.rank >= 0) push_backlog();
  relay();
  if (options_.steady_seconds > 0 || options_.steady_advances > 0)
    for (const auto& at : hops_)
      at.porter->ship_older_than(options_.steady_advances, options_.steady_seconds / hops());
  if (options_.ship_when_idle || (options_.items_create_items && done)) {
    if (activity() == activity_before_)
      for (const auto& at : hops_) at.porter->ship_all();
    activity_before_ = activity();
  }
  done = done && backlog_.rank < 0;
  ended_ = options_.items_create_items ? find_quiet(done) : done && finish_hops();
  return !ended_;
}

// A hop can end once nothing more is pushed here and what the hop before brings has ended. True
// when all have ended and all was drained.
bool conveyor::finish_hops() {
  // the lowest of those that are known so far
  int failed = use_failed_ ? team_.rank() : detail::porter::nobody;
  for (std::size_t h = 0; h < hops_.size(); ++h) {
    if (h > 0 && !hops_[h - 1].porter->drained()) return false;
    if (!hops_[h].finished) hops_[h].finished = hops_[h].porter->finish(failed);
    failed = std::min(failed, hops_[h].porter->failed_rank());
  }
  if (!std::all_of(hops_.begin(), hops_.end(), [](const hop& at) { return at.finished; }) ||
      !hops_.back().porter->drained())
    return false;
  failed_rank_ = failed == detail::porter::nobody ? -1 : failed;
  return true;
}

void conveyor::fail_use() {
  if (options_.items_create_items)
    fail(errc::unsupported,
         "rank {}: a use in which items create items cannot be given up by one rank", team_.rank());
  use_failed_ = true;
}

// Where items create items: whether nothing moves any more, here and elsewhere.
bool conveyor::find_quiet(bool done) {
  bool passive = done;
  std::int64_t sent = 0, received = 0;
  for (const auto& at : hops_) {
    passive = passive && !at.porter->has_open_lanes();
    sent += static_cast<std::int64_t>(at.porter->shipped());
    received += static_cast<std::int64_t>(at.porter->consumed());
  }
  return quiescence_->poll(passive, sent, received);
}

void conveyor::restart() {
  if (!ended_)
    fail(errc::usage,
         "rank {}: restart() of an engine that has not ended; call advance(true) until it returns "
         "false",
         team_.rank());
  for (auto& at : hops_) {
    at.porter->restart();
    at.finished = false;
  }
  if (quiescence_) quiescence_->restart();
  use_failed_ = false;
  ended_ = false;
  tick();
}

std::size_t conveyor::activity() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& at : hops_) sum += at.porter->shipped() + at.porter->consumed();
  return sum;
}

traffic conveyor::sent() const noexcept {
  traffic all;
  for (const auto& at : hops_) {
    const hop_report& one = at.porter->report();
    all += {
        .messages = one.messages, .wire_bytes = one.wire_bytes, .offnode_bytes = one.offnode_bytes};
  }
  return all;
}

engine_report conveyor::report() const {
  engine_report all{.seconds_without_slot = seconds_without_slot_,
                    .seconds_nothing_arrived = seconds_nothing_arrived_,
                    .latency = latency_,
                    .waves = quiescence_ ? quiescence_->waves() : 0};
  for (const auto& at : hops_) all.hops.push_back(at.porter->report());
  return all;
}

}  // namespace longshore
