// Sends and receives the messages of one hop. The free slot of a channel is the buffer: items lie
// at its front, their tags behind the space for all items, and send() moves the tags next to the
// items. Open buffers form a list in the order of opening, from which the oldest are sent first.
#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/stream_ends.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::detail {
namespace {

// The flags in the last byte of a message.
constexpr std::uint8_t last_flag = 1;  // the last message of this link in this epoch
constexpr std::uint8_t push_time_flag = 2;
// A rank can be one epoch ahead of another. Every other epoch sets this flag, which separates
// messages of the next epoch from messages of the current epoch.
constexpr std::uint8_t epoch_flag = 4;
constexpr std::uint8_t failed_flag = 8;
constexpr std::uint8_t urgent_flag = 16;

}  // namespace

porter::porter(team& team, std::span<const int> to, std::span<const int> from,
               const porter_options& options, std::span<tagged_buffer> buffers)
    : team_(team),
      format_(options.format),
      buffers_per_timed_item_(options.buffers_per_timed_item),
      fetches_ahead_(!team.waiting().spin && from.size() > channel_receiver::peers_ahead),
      buffers_(buffers),
      // The state of the random numbers by which open() chooses the item to time. Each rank
      // begins with another state.
      random_(mix_bits(team.rank() + 1)) {
  assert(buffers.size() == to.size());
  if (options.carries_replies) pushes_ = pulls_ = "conveyor_replies";
  const auto ends_of = [&](std::span<const int> peers) {
    auto ends = stream_ends(team.nodes(), peers, format_.slot_bytes(), options.slots,
                            options.slots_between_hosts);
    for (auto& end : ends) {
      end.reads_all = true;
      end.streams = end.peer != team.rank();
    }
    return ends;
  };
  channels_ = team.open_channels(ends_of(to), ends_of(from), options.slots);
  quiet_ = channels_->quiet();
  links_.reserve(to.size());
  inboxes_.reserve(from.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    buffers_[i].tag_bytes = format_.tag_bytes;
    links_.push_back({.channel = &channels_->sender(i),
                      .to_self = to[i] == team.rank(),
                      .off_node = !team.nodes().is_local(to[i])});
  }
  for (std::size_t i = 0; i < from.size(); ++i)
    inboxes_.push_back({.channel = &channels_->receiver(i), .peer = from[i]});
  awaited_links_.assign(from.size(), no_link);
  // first_link_ is the link with which finish() begins: the one to the first peer after this rank,
  // or the first of all. So ranks that finish together do not all send to the same peer first.
  const auto after_me = std::upper_bound(to.begin(), to.end(), team.rank());
  first_link_ = after_me == to.end() ? 0 : static_cast<std::size_t>(after_me - to.begin());
}

bool porter::open(std::size_t i) {
  link_state& link = links_[i];
  if (link.finished)
    fail(errc::usage,
         "rank {} pushed an item to rank {} after it called advance(true): call restart() first, "
         "or make the engine with items_create_items",
         team_.rank(), link.channel->peer());
  std::byte* const slot = link.channel->reserve();
  if (slot == nullptr) {
    ++stats_.refusals;
    return false;
  }
  link.begin = slot;
  link.items_end = slot + format_.items_bytes();
  link.timed.position = push_time::none;
  buffers_[i] = {slot, link.items_end, link.items_end, format_.tag_bytes};
  if (buffers_per_timed_item_ != 0 && opened_buffers_++ % buffers_per_timed_item_ == 0) {
    // The buffer seems to end after a random item. So the loop calls filled() right after it has
    // pushed that item, and filled() reads the clock.
    random_ = mix_bits(random_);
    buffers_[i].end = slot + (random_ % format_.capacity_items + 1) * format_.item_bytes;
    link.awaits_timed_item = true;
  }
  link.older = newest_link_;
  link.newer = no_link;
  (newest_link_ == no_link ? oldest_link_ : links_[newest_link_].newer) =
      static_cast<std::uint32_t>(i);
  newest_link_ = static_cast<std::uint32_t>(i);
  return true;
}

void porter::unlink(std::size_t i) {
  const link_state& link = links_[i];
  (link.older == no_link ? oldest_link_ : links_[link.older].newer) = link.newer;
  (link.newer == no_link ? newest_link_ : links_[link.newer].older) = link.older;
}

void porter::filled(std::size_t i) {
  link_state& link = links_[i];
  if (link.awaits_timed_item) {
    link.awaits_timed_item = false;
    buffers_[i].end = link.items_end;
    set_push_time(i, team_.now());
    if (buffers_[i].next != buffers_[i].end) return;
  }
  send(i);
}

void porter::set_push_time(std::size_t i, double seconds) {
  link_state& link = links_[i];
  if (link.timed.position != push_time::none) return;
  const auto items = static_cast<std::size_t>(buffers_[i].next - link.begin) / format_.item_bytes;
  link.timed = {static_cast<std::uint32_t>(items - 1), seconds};
}

void porter::send(std::size_t i, std::uint8_t flags, int failed_rank) {
  tagged_buffer& buffer = buffers_[i];
  link_state& link = links_[i];
  const std::size_t items = static_cast<std::size_t>(buffer.next - link.begin) / format_.item_bytes;
  if (items == 0 && flags == 0) {  // opened for a batch that had no item for this rank
    close(i);
    return;
  }
  const std::size_t tags_size = items * format_.tag_bytes;
  std::byte* end = buffer.next;
  if (tags_size > 0) {
    if (end != link.items_end) std::memmove(end, link.items_end, tags_size);
    end += tags_size;
  }
  flags |= epoch_;
  if (link.timed.position != push_time::none) {
    flags |= push_time_flag;
    std::memcpy(end, &link.timed.position, sizeof(std::uint32_t));
    std::memcpy(end + sizeof(std::uint32_t), &link.timed.seconds, sizeof(double));
    end += message_layout::push_time_bytes;
  }
  if (failed_rank != nobody) {
    flags |= failed_flag;
    std::memcpy(end, &failed_rank, message_layout::failed_rank_bytes);
    end += message_layout::failed_rank_bytes;
  }
  if (is_urgent_) {
    flags |= urgent_flag;
    link.told = true;
  }
  *end++ = static_cast<std::byte>(flags);
  const auto bytes = static_cast<std::size_t>(end - link.begin);
  team_.charge(pushes_, items);
  const std::size_t streamed_before = link.channel->streamed_bytes();
  link.channel->commit(bytes);
  stats_.streamed_bytes += link.channel->streamed_bytes() - streamed_before;
  close(i);
  if (link.to_self)
    ++stats_.own_copies;
  else
    stats_.count_message(items, format_.item_bytes, format_.capacity_items, bytes, link.off_node);
}

void porter::close(std::size_t i) {
  unlink(i);
  links_[i].awaits_timed_item = false;
  buffers_[i].next = buffers_[i].end = nullptr;
}

void porter::send_all() {
  while (oldest_link_ != no_link) send(oldest_link_);
  if (!is_urgent_) return;
  for (; told_links_ < links_.size(); ++told_links_) {
    const link_state& link = links_[told_links_];
    if (link.told || link.finished || link.to_self) continue;
    if (!open(told_links_)) return;
    send(told_links_, urgent_flag, nobody);
  }
}

bool porter::finish(int failed_rank) {
  for (; finished_links_ < links_.size(); ++finished_links_) {
    std::size_t i = first_link_ + finished_links_;
    if (i >= links_.size()) i -= links_.size();
    if (buffers_[i].next == buffers_[i].end && !open(i)) return false;
    send(i, last_flag, failed_rank);
    links_[i].finished = true;
  }
  return true;
}

peer_inbox* porter::open_message(peer_inbox& inbox) {
  const auto message = inbox.channel->front();
  if (!message) return nullptr;
  const auto flags = static_cast<std::uint8_t>(message->back());
  if ((flags & epoch_flag) != epoch_) return nullptr;
  is_urgent_ = is_urgent_ || (flags & urgent_flag) != 0;
  // The fields behind the items are read from the end, in the reverse order of send().
  std::size_t bytes = message->size() - message_layout::flag_bytes;
  const std::byte* const data = message->data();
  inbox.timed.position = push_time::none;
  if ((flags & failed_flag) != 0) {
    bytes -= message_layout::failed_rank_bytes;
    int failed_rank = nobody;
    std::memcpy(&failed_rank, data + bytes, message_layout::failed_rank_bytes);
    failed_rank_ = std::min(failed_rank_, failed_rank);
  }
  if ((flags & push_time_flag) != 0) {
    bytes -= message_layout::push_time_bytes;
    std::memcpy(&inbox.timed.position, data + bytes, sizeof(std::uint32_t));
    std::memcpy(&inbox.timed.seconds, data + bytes + sizeof(std::uint32_t), sizeof(double));
  }
  inbox.next = 0;
  inbox.count = static_cast<std::uint32_t>(bytes / (format_.item_bytes + format_.tag_bytes));
  inbox.items = data;
  inbox.tags = data + inbox.count * format_.item_bytes;
  inbox.is_last = (flags & last_flag) != 0;
  inbox.has_message = true;
  team_.charge(pulls_, inbox.count);
  return &inbox;
}

std::size_t porter::skip_quiet_peers(std::size_t polls) {
  const std::size_t skipped = quiet_->poll(next_peer_, polls);
  next_peer_ = (next_peer_ + skipped) % inboxes_.size();
  return skipped;
}

void porter::release(peer_inbox& inbox) {
  inbox.channel->release();
  inbox.has_message = false;
  ++consumed_messages_;
  if (inbox.is_last) {
    inbox.ended = true;
    ++ended_peers_;
  }
}

void porter::restart() {
  epoch_ ^= epoch_flag;
  ended_peers_ = finished_links_ = told_links_ = 0;
  failed_rank_ = nobody;
  is_urgent_ = false;
  for (auto& inbox : inboxes_) inbox.ended = false;
  for (auto& link : links_) link.finished = link.told = false;
}

}  // namespace longshore::detail
