#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::detail {
namespace {

// Flags of a message, its last byte. The epoch tells a message of the next use from one of this
// use: a rank can be one use ahead of another.
constexpr std::uint8_t last_flag = 1, stamp_flag = 2, epoch_flag = 4, failed_flag = 8;

std::vector<channel_end> ends(std::span<const int> peers, std::size_t slot_bytes) {
  std::vector<channel_end> all;
  all.reserve(peers.size());
  for (const int peer : peers) all.push_back({peer, slot_bytes});
  return all;
}

}  // namespace

porter::porter(team& team, std::span<const int> to, std::span<const int> from,
               const porter_options& options, std::span<lane> lanes)
    : team_(team),
      format_(options.format),
      stamp_every_(options.stamp_every),
      lanes_(lanes),
      random_(mix_bits(team.rank() + 1)) {
  assert(lanes.size() == to.size());
  channels_ = team.open_channels(ends(to, format_.slot_bytes()), ends(from, format_.slot_bytes()),
                                 options.slots);
  for (std::size_t i = 0; i < to.size(); ++i) {
    lanes_[i].tag_bytes = format_.tag_bytes;
    states_.push_back({.to = &channels_->sender(i),
                       .own = to[i] == team.rank(),
                       .off_node = !team.nodes().is_local(to[i])});
  }
  for (std::size_t i = 0; i < from.size(); ++i)
    sources_.push_back({.from = &channels_->receiver(i), .peer = from[i]});
  // Ranks in step never aim at one target: each begins with the peer behind itself.
  const auto behind = std::upper_bound(to.begin(), to.end(), team.rank());
  first_lane_ = behind == to.end() ? 0 : static_cast<std::size_t>(behind - to.begin());
}

bool porter::open(std::size_t i) {
  lane_state& state = states_[i];
  if (state.finished)
    fail(errc::usage,
         "rank {} pushed an item for rank {} after it had said that it was done: restart() first, "
         "or ask for items_create_items",
         team_.rank(), state.to->peer());
  std::byte* const slot = state.to->reserve();
  if (slot == nullptr) {
    ++report_.refusals;
    return false;
  }
  state.begin = slot;
  state.area_end = slot + format_.area_bytes();
  state.opened_advance = advances_;
  state.opened_seconds = now_;
  state.timed.position = stamp::none;
  lanes_[i] = {slot, state.area_end, state.area_end, format_.tag_bytes};
  if (stamp_every_ != 0 && opened_++ % stamp_every_ == 0) {
    // The buffer pretends to be full behind some item: filled() is then called right after that was
    // pushed.
    random_ = mix_bits(random_);
    lanes_[i].end = slot + (random_ % format_.capacity_items + 1) * format_.item_bytes;
    state.to_time = true;
  }
  const auto me = static_cast<std::uint32_t>(i);
  state.older = newest_;
  state.newer = no_lane;
  (newest_ == no_lane ? oldest_ : states_[newest_].newer) = me;
  newest_ = me;
  return true;
}

void porter::unlink(std::size_t i) {
  const lane_state& state = states_[i];
  (state.older == no_lane ? oldest_ : states_[state.older].newer) = state.newer;
  (state.newer == no_lane ? newest_ : states_[state.newer].older) = state.older;
}

void porter::filled(std::size_t i) {
  lane_state& state = states_[i];
  if (state.to_time) {
    state.to_time = false;
    lanes_[i].end = state.area_end;
    carry_stamp(i, team_.now());
    if (lanes_[i].next != lanes_[i].end) return;
  }
  ship(i);
}

void porter::carry_stamp(std::size_t i, double seconds) {
  lane_state& state = states_[i];
  if (state.timed.position != stamp::none) return;
  const auto items = static_cast<std::size_t>(lanes_[i].next - state.begin) / format_.item_bytes;
  state.timed = {static_cast<std::uint32_t>(items - 1), seconds};
}

void porter::ship(std::size_t i, bool last, int failed_rank) {
  lane& open_lane = lanes_[i];
  lane_state& state = states_[i];
  const auto area = static_cast<std::size_t>(open_lane.next - state.begin);
  const std::size_t items = area / format_.item_bytes, tags = items * format_.tag_bytes;
  std::byte* end = open_lane.next;
  if (tags > 0) {
    if (end != state.area_end) std::memmove(end, state.area_end, tags);
    end += tags;
  }
  std::uint8_t flags = static_cast<std::uint8_t>(epoch_ | (last ? last_flag : 0));
  if (state.timed.position != stamp::none) {
    flags |= stamp_flag;
    std::memcpy(end, &state.timed.position, sizeof(std::uint32_t));
    std::memcpy(end + sizeof(std::uint32_t), &state.timed.seconds, sizeof(double));
    end += message_layout::stamp_bytes;
  }
  if (failed_rank != nobody) {
    flags |= failed_flag;
    std::memcpy(end, &failed_rank, message_layout::failed_bytes);
    end += message_layout::failed_bytes;
  }
  *end++ = static_cast<std::byte>(flags);
  const auto bytes = static_cast<std::size_t>(end - state.begin);
  state.to->commit(bytes);
  unlink(i);
  state.to_time = false;
  open_lane.next = open_lane.end = nullptr;
  if (state.own)
    ++report_.own_copies;
  else
    report_.count_message(items, format_.item_bytes, format_.capacity_items, bytes, state.off_node);
}

void porter::ship_all() {
  while (oldest_ != no_lane) ship(oldest_);
}

void porter::ship_older_than(std::uint64_t advances, double seconds) {
  while (oldest_ != no_lane) {
    const lane_state& state = states_[oldest_];
    const bool beyond_advances = advances > 0 && advances_ - state.opened_advance >= advances;
    const bool beyond_seconds = seconds > 0 && now_ - state.opened_seconds >= seconds;
    if (!beyond_advances && !beyond_seconds) return;
    ship(oldest_);
  }
}

bool porter::finish(int failed_rank) {
  for (; finishing_ < states_.size(); ++finishing_) {
    std::size_t i = first_lane_ + finishing_;
    if (i >= states_.size()) i -= states_.size();
    if (lanes_[i].next == lanes_[i].end && !open(i)) return false;
    ship(i, true, failed_rank);
    states_[i].finished = true;
  }
  return true;
}

source* porter::fetch(source& s) {
  const auto message = s.from->front();
  if (!message) return nullptr;
  const auto flags = static_cast<std::uint8_t>(message->back());
  if ((flags & epoch_flag) != epoch_) return nullptr;
  std::size_t bytes = message->size() - message_layout::flag_bytes;
  const std::byte* const data = message->data();
  s.timed.position = stamp::none;
  if ((flags & failed_flag) != 0) {
    bytes -= message_layout::failed_bytes;
    int failed_rank = nobody;
    std::memcpy(&failed_rank, data + bytes, message_layout::failed_bytes);
    failed_rank_ = std::min(failed_rank_, failed_rank);
  }
  if ((flags & stamp_flag) != 0) {
    bytes -= message_layout::stamp_bytes;
    std::memcpy(&s.timed.position, data + bytes, sizeof(std::uint32_t));
    std::memcpy(&s.timed.seconds, data + bytes + sizeof(std::uint32_t), sizeof(double));
  }
  s.next = 0;
  s.count = static_cast<std::uint32_t>(bytes / (format_.item_bytes + format_.tag_bytes));
  s.items = data;
  s.tags = data + s.count * format_.item_bytes;
  s.last = (flags & last_flag) != 0;
  s.holds = true;
  return &s;
}

void porter::release(source& s) {
  s.from->release();
  s.holds = false;
  ++consumed_;
  if (s.last) {
    s.ended = true;
    ++ended_;
  }
}

void porter::restart() {
  epoch_ ^= epoch_flag;
  ended_ = finishing_ = 0;
  failed_rank_ = nobody;
  for (auto& s : sources_) s.ended = false;
  for (auto& state : states_) state.finished = false;
}

}  // namespace longshore::detail
