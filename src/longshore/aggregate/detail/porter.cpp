#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::detail {
namespace {

// The flags are the last byte of a message. A rank can be one use ahead of another: the epoch,
// which alternates, tells messages of the next use from those of this use.
constexpr std::uint8_t last_flag = 1, push_time_flag = 2, epoch_flag = 4, failed_flag = 8;

std::vector<channel_end> ends(std::span<const int> peers, std::size_t slot_bytes) {
  std::vector<channel_end> all;
  all.reserve(peers.size());
  for (const int peer : peers) all.push_back({peer, slot_bytes});
  return all;
}

}  // namespace

porter::porter(team& team, std::span<const int> to, std::span<const int> from,
               const porter_options& options, std::span<tagged_buffer> buffers)
    : team_(team),
      format_(options.format),
      stamp_every_(options.stamp_every),
      buffers_(buffers),
      random_(mix_bits(team.rank() + 1)) {
  assert(buffers.size() == to.size());
  channels_ = team.open_channels(ends(to, format_.slot_bytes()), ends(from, format_.slot_bytes()),
                                 options.slots);
  for (std::size_t i = 0; i < to.size(); ++i) {
    buffers_[i].tag_bytes = format_.tag_bytes;
    states_.push_back({.to = &channels_->sender(i),
                       .own = to[i] == team.rank(),
                       .off_node = !team.nodes().is_local(to[i])});
  }
  for (std::size_t i = 0; i < from.size(); ++i)
    incoming_.push_back({.from = &channels_->receiver(i), .peer = from[i]});
  // Each rank begins with the peer after itself, so ranks in step do not all send to one peer.
  const auto after = std::upper_bound(to.begin(), to.end(), team.rank());
  first_link_ = after == to.end() ? 0 : static_cast<std::size_t>(after - to.begin());
}

bool porter::open(std::size_t i) {
  link_state& state = states_[i];
  if (state.finished)
    fail(errc::usage,
         "rank {} pushed an item to rank {} after it called advance(true): call restart() first, "
         "or make the engine with items_create_items",
         team_.rank(), state.to->peer());
  std::byte* const slot = state.to->reserve();
  if (slot == nullptr) {
    ++stats_.refusals;
    return false;
  }
  state.begin = slot;
  state.area_end = slot + format_.area_bytes();
  state.opened_advance = advances_;
  state.opened_seconds = now_;
  state.timed.position = push_time::none;
  buffers_[i] = {slot, state.area_end, state.area_end, format_.tag_bytes};
  if (stamp_every_ != 0 && opened_++ % stamp_every_ == 0) {
    // The buffer appears full after a random item, so filled() is called right after that item was
    // pushed, and can time it.
    random_ = mix_bits(random_);
    buffers_[i].end = slot + (random_ % format_.capacity_items + 1) * format_.item_bytes;
    state.awaits_timed_item = true;
  }
  const auto me = static_cast<std::uint32_t>(i);
  state.older = newest_;
  state.newer = no_link;
  (newest_ == no_link ? oldest_ : states_[newest_].newer) = me;
  newest_ = me;
  return true;
}

void porter::unlink(std::size_t i) {
  const link_state& state = states_[i];
  (state.older == no_link ? oldest_ : states_[state.older].newer) = state.newer;
  (state.newer == no_link ? newest_ : states_[state.newer].older) = state.older;
}

void porter::filled(std::size_t i) {
  link_state& state = states_[i];
  if (state.awaits_timed_item) {
    state.awaits_timed_item = false;
    buffers_[i].end = state.area_end;
    set_push_time(i, team_.now());
    if (buffers_[i].next != buffers_[i].end) return;
  }
  send(i);
}

void porter::set_push_time(std::size_t i, double seconds) {
  link_state& state = states_[i];
  if (state.timed.position != push_time::none) return;
  const auto items = static_cast<std::size_t>(buffers_[i].next - state.begin) / format_.item_bytes;
  state.timed = {static_cast<std::uint32_t>(items - 1), seconds};
}

void porter::send(std::size_t i, bool last, int failed_rank) {
  tagged_buffer& buffer = buffers_[i];
  link_state& state = states_[i];
  const auto area = static_cast<std::size_t>(buffer.next - state.begin);
  const std::size_t items = area / format_.item_bytes, tags = items * format_.tag_bytes;
  std::byte* end = buffer.next;
  if (tags > 0) {
    if (end != state.area_end) std::memmove(end, state.area_end, tags);
    end += tags;
  }
  std::uint8_t flags = static_cast<std::uint8_t>(epoch_ | (last ? last_flag : 0));
  if (state.timed.position != push_time::none) {
    flags |= push_time_flag;
    std::memcpy(end, &state.timed.position, sizeof(std::uint32_t));
    std::memcpy(end + sizeof(std::uint32_t), &state.timed.seconds, sizeof(double));
    end += message_layout::push_time_bytes;
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
  state.awaits_timed_item = false;
  buffer.next = buffer.end = nullptr;
  if (state.own)
    ++stats_.own_copies;
  else
    stats_.count_message(items, format_.item_bytes, format_.capacity_items, bytes, state.off_node);
}

void porter::send_all() {
  while (oldest_ != no_link) send(oldest_);
}

void porter::send_older_than(std::uint64_t advances, double seconds) {
  while (oldest_ != no_link) {
    const link_state& state = states_[oldest_];
    const bool beyond_advances = advances > 0 && advances_ - state.opened_advance >= advances;
    const bool beyond_seconds = seconds > 0 && now_ - state.opened_seconds >= seconds;
    if (!beyond_advances && !beyond_seconds) return;
    send(oldest_);
  }
}

bool porter::finish(int failed_rank) {
  for (; finishing_ < states_.size(); ++finishing_) {
    std::size_t i = first_link_ + finishing_;
    if (i >= states_.size()) i -= states_.size();
    if (buffers_[i].next == buffers_[i].end && !open(i)) return false;
    send(i, true, failed_rank);
    states_[i].finished = true;
  }
  return true;
}

incoming_message* porter::open_message(incoming_message& s) {
  const auto message = s.from->front();
  if (!message) return nullptr;
  const auto flags = static_cast<std::uint8_t>(message->back());
  if ((flags & epoch_flag) != epoch_) return nullptr;
  std::size_t bytes = message->size() - message_layout::flag_bytes;
  const std::byte* const data = message->data();
  s.timed.position = push_time::none;
  if ((flags & failed_flag) != 0) {
    bytes -= message_layout::failed_bytes;
    int failed_rank = nobody;
    std::memcpy(&failed_rank, data + bytes, message_layout::failed_bytes);
    failed_rank_ = std::min(failed_rank_, failed_rank);
  }
  if ((flags & push_time_flag) != 0) {
    bytes -= message_layout::push_time_bytes;
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

void porter::release(incoming_message& s) {
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
  for (auto& s : incoming_) s.ended = false;
  for (auto& state : states_) state.finished = false;
}

}  // namespace longshore::detail
