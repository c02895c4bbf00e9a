// Waves of counts over a binary tree of ranks: each rank adds its counts to those of its children
// and sends the sum to its parent. Rank 0 decides, and its verdict goes down the tree.
#include <longshore/aggregate/detail/termination_detector.hpp>

#include <cstring>

namespace longshore::detail {
namespace {

constexpr int children_per_rank = 2;
constexpr std::size_t slot_bytes = 2 * sizeof(std::int64_t);  // of counts, or one byte of a verdict

}  // namespace

termination_detector::termination_detector(team& team)
    : is_root_(team.rank() == 0), first_child_(is_root_ ? 0 : 1) {
  static_assert(sizeof(counts) == slot_bytes);
  std::vector<channel_end> ends;
  if (!is_root_) ends.push_back({(team.rank() - 1) / children_per_rank, slot_bytes});
  for (int k = 1; k <= children_per_rank; ++k)
    if (const int child = team.rank() * children_per_rank + k; child < team.size())
      ends.push_back({child, slot_bytes});
  channels_ = team.open_channels(ends, ends, 2);
}

bool termination_detector::poll(bool passive, std::int64_t sent, std::int64_t received) {
  if (verdict_ == verdict::none) {
    receive_from_children();
    if (!reported_ && passive && first_child_ + counts_received_ == channels_->receiver_count()) {
      const counts sum_of_children = sum_;
      sum_.sent += sent;
      sum_.received += received;
      send_to_parent();
      // If no slot is free, the next poll adds the counts that this rank then has.
      if (!reported_) sum_ = sum_of_children;
    }
    if (reported_ && !is_root_) receive_verdict();
  }
  return verdict_ != verdict::none && send_verdict() && verdict_ == verdict::quiet;
}

void termination_detector::receive_from_children() {
  for (; first_child_ + counts_received_ < channels_->receiver_count(); ++counts_received_) {
    channel_receiver& child = channels_->receiver(first_child_ + counts_received_);
    const auto message = child.front();
    if (!message) return;
    counts child_counts;
    std::memcpy(&child_counts, message->data(), sizeof child_counts);
    child.release();
    sum_.sent += child_counts.sent;
    sum_.received += child_counts.received;
  }
}

void termination_detector::send_to_parent() {
  if (is_root_) {
    verdict_ =
        sum_.sent == sum_.received && sum_ == previous_wave_ ? verdict::quiet : verdict::again;
    previous_wave_ = sum_;
  } else {
    std::byte* const slot = channels_->sender(0).reserve();
    if (slot == nullptr) return;
    std::memcpy(slot, &sum_, sizeof sum_);
    channels_->sender(0).commit(sizeof sum_);
  }
  reported_ = true;
}

void termination_detector::receive_verdict() {
  channel_receiver& parent = channels_->receiver(0);
  const auto message = parent.front();
  if (!message) return;
  verdict_ = static_cast<verdict>(message->front());
  parent.release();
}

// Returns true once all children have the verdict. If the verdict is `again`, the next wave then
// begins on this rank.
bool termination_detector::send_verdict() {
  for (; first_child_ + verdicts_sent_ < channels_->sender_count(); ++verdicts_sent_) {
    channel_sender& child = channels_->sender(first_child_ + verdicts_sent_);
    std::byte* const slot = child.reserve();
    if (slot == nullptr) return false;
    slot[0] = static_cast<std::byte>(verdict_);
    child.commit(1);
  }
  if (verdict_ == verdict::again) restart();
  return true;
}

void termination_detector::restart() {
  verdict_ = verdict::none;
  reported_ = false;
  counts_received_ = verdicts_sent_ = 0;
  sum_ = {};
}

}  // namespace longshore::detail
