#include <longshore/aggregate/exstack.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>

namespace longshore {
namespace {

// One slot is read by its receiver while the sender fills the other: a rank is never more than one
// exchange ahead of any other.
constexpr int slots_per_channel = 2;

// What follows the items in a message: the sender's progress.
constexpr std::size_t trailer_bytes = 1;

// Adds the time from the first look that was in vain to the end of the exchange: two clock reads
// where there is a wait, else none.
class lost_time {
 public:
  lost_time(team& team, double* sum) : team_(team), sum_(sum) {}
  ~lost_time() {
    if (began_ >= 0) *sum_ += team_.now() - began_;
  }
  lost_time(const lost_time&) = delete;
  lost_time& operator=(const lost_time&) = delete;
  // Whether this is the first of the exchange.
  bool begins() {
    if (began_ >= 0 || sum_ == nullptr) return false;
    began_ = team_.now();
    return true;
  }

 private:
  team& team_;
  double* sum_;
  double began_ = -1;
};

}  // namespace

exstack::exstack(team& team, std::size_t buffer_bytes)
    : team_(team),
      buffer_bytes_(buffer_bytes),
      lanes_(static_cast<std::size_t>(team.size())),
      begins_(lanes_.size()),
      arrived_(lanes_.size()) {
  if (buffer_bytes == 0)
    fail(errc::usage,
         "exstack: a buffer of 0 bytes holds no item; give each destination at least one item's "
         "bytes");
  std::vector<channel_end> ends;
  for (int peer = 0; peer < team.size(); ++peer)
    ends.push_back({peer, buffer_bytes + trailer_bytes});
  channels_ = team.open_channels(ends, ends, slots_per_channel);
  open_lanes();
}

void exstack::open_lanes() {
  // Every receiver has released the slot before the last, or it would not have sent us its last
  // buffer: this waits for nothing but the acknowledgement of a message.
  lost_time lost(team_, account_ != nullptr ? &account_->seconds_without_slot : nullptr);
  for (std::size_t peer = 0; peer < lanes_.size(); ++peer) {
    channel_sender& to = channels_->sender(peer);
    std::byte* slot = nullptr;
    for (waiter wait(team_, "a free exstack buffer", to.peer()); (slot = to.reserve()) == nullptr;
         wait.pause()) {
      if (lost.begins()) ++account_->hops.front().refusals;
    }
    begins_[peer] = slot;
    lanes_[peer] = {slot, slot + buffer_bytes_};
  }
}

void exstack::send_all(progress mine) {
  const int size = team_.size(), me = team_.rank();
  for (int step = 1; step <= size; ++step) {
    const int peer = (me + step) % size;
    *lanes_[peer].next = static_cast<std::byte>(mine);
    const auto bytes = static_cast<std::size_t>(lanes_[peer].next - begins_[peer]) + trailer_bytes;
    channels_->sender(static_cast<std::size_t>(peer)).commit(bytes);
    if (peer == me) {
      if (account_ != nullptr) ++account_->hops.front().own_copies;
      continue;
    }
    const bool off_node = !team_.nodes().is_local(peer);
    sent_.messages += 1;
    sent_.wire_bytes += bytes;
    if (off_node) sent_.offnode_bytes += bytes;
    if (account_ != nullptr) {
      // a rank that gives up sends no head
      const std::size_t around = trailer_bytes + contents_.head_bytes;
      const std::size_t items = (std::max(bytes, around) - around) / contents_.item_bytes;
      account_->hops.front().count_message(items, contents_.item_bytes, contents_.capacity_items,
                                           bytes, off_node);
    }
  }
}

progress exstack::receive_all() {
  const int size = team_.size(), me = team_.rank();
  bool all_done = true;
  failed_rank_ = -1;
  lost_time lost(team_, account_ != nullptr ? &account_->seconds_nothing_arrived : nullptr);
  for (int step = 0; step < size; ++step) {
    const int peer = (me + size - step) % size;  // in the order in which they send to us
    channel_receiver& from = channels_->receiver(static_cast<std::size_t>(peer));
    std::optional<std::span<const std::byte>> message;
    for (waiter wait(team_, "an exstack buffer", peer); !(message = from.front()); wait.pause())
      lost.begins();
    const auto said = static_cast<progress>(message->back());
    all_done = all_done && said == progress::done;
    if (said == progress::failed && (failed_rank_ < 0 || peer < failed_rank_)) failed_rank_ = peer;
    arrived_[peer] = message->first(message->size() - trailer_bytes);
  }
  if (failed_rank_ >= 0) return progress::failed;
  return all_done ? progress::done : progress::more;
}

progress exstack::exchange(progress mine) {
  if (holds_arrived_)
    for (std::size_t peer = 0; peer < lanes_.size(); ++peer) channels_->receiver(peer).release();
  send_all(mine);
  const progress all = receive_all();
  holds_arrived_ = true;
  open_lanes();
  return all;
}

}  // namespace longshore
