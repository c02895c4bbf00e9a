#include <longshore/aggregate/detail/quiescence.hpp>

#include <cstring>

namespace longshore::detail {
namespace {

constexpr int fan_out = 2;
constexpr std::size_t slot_bytes = 2 * sizeof(std::int64_t);

}  // namespace

quiescence::quiescence(team& team) : is_root_(team.rank() == 0), first_child_(is_root_ ? 0 : 1) {
  std::vector<channel_end> ends;
  if (!is_root_) ends.push_back({(team.rank() - 1) / fan_out, slot_bytes});
  for (int k = 1; k <= fan_out; ++k)
    if (const int child = team.rank() * fan_out + k; child < team.size())
      ends.push_back({child, slot_bytes});
  channels_ = team.open_channels(ends, ends, 2);
}

bool quiescence::poll(bool passive, std::int64_t sent, std::int64_t received) {
  if (verdict_ == verdict::none) {
    hear_children();
    if (!reported_ && passive && first_child_ + heard_ == channels_->receiver_count()) {
      const counts with_children = sum_;
      sum_.sent += sent;
      sum_.received += received;
      report_up();
      if (!reported_) sum_ = with_children;
    }
    if (reported_ && !is_root_) hear_parent();
  }
  return verdict_ != verdict::none && tell_children() && verdict_ == verdict::quiet;
}

void quiescence::hear_children() {
  for (; first_child_ + heard_ < channels_->receiver_count(); ++heard_) {
    channel_receiver& child = channels_->receiver(first_child_ + heard_);
    const auto message = child.front();
    if (!message) return;
    counts theirs;
    std::memcpy(&theirs, message->data(), sizeof theirs);
    child.release();
    sum_.sent += theirs.sent;
    sum_.received += theirs.received;
  }
}

void quiescence::report_up() {
  if (is_root_) {
    verdict_ = sum_.sent == sum_.received && sum_ == before_ ? verdict::quiet : verdict::again;
    before_ = sum_;
    ++waves_;
  } else {
    std::byte* const slot = channels_->sender(0).reserve();
    if (slot == nullptr) return;
    std::memcpy(slot, &sum_, sizeof sum_);
    channels_->sender(0).commit(sizeof sum_);
  }
  reported_ = true;
}

void quiescence::hear_parent() {
  channel_receiver& parent = channels_->receiver(0);
  const auto message = parent.front();
  if (!message) return;
  verdict_ = static_cast<verdict>(message->front());
  parent.release();
  ++waves_;
}

// True when all were told; then a new wave begins here, unless it was the last.
bool quiescence::tell_children() {
  for (; first_child_ + told_ < channels_->sender_count(); ++told_) {
    channel_sender& child = channels_->sender(first_child_ + told_);
    std::byte* const slot = child.reserve();
    if (slot == nullptr) return false;
    slot[0] = static_cast<std::byte>(verdict_);
    child.commit(1);
  }
  if (verdict_ == verdict::again) restart();
  return true;
}

void quiescence::restart() {
  verdict_ = verdict::none;
  reported_ = false;
  heard_ = told_ = 0;
  sum_ = {};
}

}  // namespace longshore::detail
