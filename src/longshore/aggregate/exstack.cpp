// Sends all buffers of a rank, also empty ones, and receives one buffer from each rank. The last
// byte of a message has the sender's progress, so all ranks learn together whether all are done.
#include <longshore/aggregate/exstack.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>

namespace longshore {
namespace {

// After the items, a message has one byte with the sender's progress.
constexpr std::size_t trailer_bytes = 1;

}  // namespace

exstack::exstack(team& team, std::size_t buffer_bytes)
    : team_(team),
      buffer_bytes_(buffer_bytes),
      buffers_(static_cast<std::size_t>(team.size())),
      begins_(buffers_.size()),
      arrived_(buffers_.size()) {
  if (buffer_bytes == 0)
    fail(errc::usage, "exstack: buffer_bytes is 0, and a buffer must hold at least one item");
  std::vector<channel_end> ends;
  for (int peer = 0; peer < team.size(); ++peer)
    ends.push_back(
        {.peer = peer, .slot_bytes = buffer_bytes + trailer_bytes, .streams = peer != team.rank()});
  channels_ = team.open_channels(ends, ends, slots_per_channel);
  open_buffers();
}

exstack::~exstack() = default;

void exstack::count_exchanges_in(engine_stats& stats, const detail::message_sizes& sizes,
                                 bool replies) {
  stats.hops.resize(1);
  stats_ = &stats;
  sizes_ = sizes;
  carries_replies_ = replies;
}

void exstack::open_buffers() {
  // The buffer of the last exchange arrived from each peer. So each peer has released the slot of
  // the exchange before, and this function waits at most for the acknowledgement of a message.
  const double waited_before = team_.waited_seconds();
  bool refused = false;
  for (std::size_t peer = 0; peer < buffers_.size(); ++peer) {
    channel_sender& to = channels_->sender(peer);
    std::byte* slot = nullptr;
    for (waiter wait(team_, "a free exstack buffer", to.peer()); (slot = to.reserve()) == nullptr;
         wait.pause())
      refused = true;
    begins_[peer] = slot;
    buffers_[peer] = {slot, slot + buffer_bytes_};
  }
  if (stats_ == nullptr) return;
  stats_->seconds_without_slot += team_.waited_seconds() - waited_before;
  stats_->hops.front().refusals += refused;
}

// Accounts for the items in the bytes of a message.
void exstack::charge_items(std::string_view kind, std::size_t bytes) {
  if (team_.costs() == nullptr) return;
  if (stats_ != nullptr)
    team_.charge(carries_replies_ ? "replies" : kind, bytes / sizes_.item_bytes);
  else
    team_.charge_copy(team_.rank(), bytes);
}

void exstack::send_all(progress my_progress) {
  const int size = team_.size(), me = team_.rank();
  for (int step = 1; step <= size; ++step) {
    const int peer = (me + step) % size;
    *buffers_[peer].next = static_cast<std::byte>(my_progress);
    const auto bytes =
        static_cast<std::size_t>(buffers_[peer].next - begins_[peer]) + trailer_bytes;
    charge_items("pushed_items", bytes - trailer_bytes);
    channel_sender& to = channels_->sender(static_cast<std::size_t>(peer));
    const std::size_t streamed_before = to.streamed_bytes();
    to.commit(bytes);
    if (peer == me) {
      if (stats_ != nullptr) ++stats_->hops.front().own_copies;
      continue;
    }
    const bool off_node = !team_.nodes().is_local(peer);
    sent_.messages += 1;
    sent_.wire_bytes += bytes;
    if (off_node) sent_.offnode_bytes += bytes;
    if (stats_ != nullptr) {
      // a rank that failed sends no header
      const std::size_t overhead = trailer_bytes + sizes_.header_bytes;
      const std::size_t items = (std::max(bytes, overhead) - overhead) / sizes_.item_bytes;
      stats_->hops.front().count_message(items, sizes_.item_bytes, sizes_.capacity_items, bytes,
                                         off_node);
      stats_->hops.front().streamed_bytes += to.streamed_bytes() - streamed_before;
    }
  }
}

progress exstack::receive_all() {
  const int size = team_.size(), me = team_.rank();
  bool all_done = true;
  failed_rank_ = -1;
  const double waited_before = team_.waited_seconds();
  // In the order in which peers send to this rank.
  const auto receiver_at = [&](int step) -> channel_receiver& {
    return channels_->receiver(static_cast<std::size_t>((me + size - step) % size));
  };
  for (int step = 0; step < size; ++step) {
    if (const int later = step + channel_receiver::peers_ahead;
        later < size && !team_.waiting().spin)
      receiver_at(later).prefetch();
    channel_receiver& from = receiver_at(step);
    const int peer = from.peer();
    std::optional<std::span<const std::byte>> message;
    for (waiter wait(team_, "an exstack buffer", peer); !(message = from.front()); wait.pause()) {
    }
    const auto of_peer = static_cast<progress>(message->back());
    all_done = all_done && of_peer == progress::done;
    if (of_peer == progress::failed && (failed_rank_ < 0 || peer < failed_rank_))
      failed_rank_ = peer;
    arrived_[peer] = message->first(message->size() - trailer_bytes);
    charge_items("pulled_items", arrived_[peer].size());
  }
  if (stats_ != nullptr) stats_->seconds_nothing_arrived += team_.waited_seconds() - waited_before;
  if (failed_rank_ >= 0) return progress::failed;
  return all_done ? progress::done : progress::more;
}

progress exstack::exchange(progress my_progress) {
  if (holds_arrived_)
    for (std::size_t peer = 0; peer < buffers_.size(); ++peer) channels_->receiver(peer).release();
  send_all(my_progress);
  const progress of_all = receive_all();
  holds_arrived_ = true;
  open_buffers();
  return of_all;
}

}  // namespace longshore
