#include <longshore/core/error.hpp>
#include <longshore/gather/one_hop.hpp>

#include <algorithm>

namespace longshore::gathering {
namespace {

constexpr int slots_per_channel = 3;  // one is written, one is under way, one is read

}  // namespace

one_hop::one_hop(team& team, std::size_t buffer_bytes)
    : team_(team),
      buffer_bytes_(buffer_bytes),
      lanes_(static_cast<std::size_t>(team.size())),
      last_sent_(lanes_.size()),
      ended_(lanes_.size()) {
  std::vector<channel_end> ends;
  for (int peer = 0; peer < team.size(); ++peer) ends.push_back({peer, buffer_bytes + trailer_bytes});
  channels_ = team.open_channels(ends, ends, slots_per_channel);
}

bool one_hop::open(int rank) {
  lane& to = lanes_[rank];
  if (to.begin != nullptr) return true;
  std::byte* const slot = channels_->sender(static_cast<std::size_t>(rank)).reserve();
  if (slot == nullptr) return false;
  to = {slot, slot, slot + buffer_bytes_};
  return true;
}

bool one_hop::turn_over(int rank) {
  if (lanes_[rank].next != lanes_[rank].begin) send(rank, more_buffers);
  return open(rank);
}

void one_hop::send(int rank, std::byte trailer) {
  lane& to = lanes_[rank];
  *to.next = trailer;
  const auto bytes = static_cast<std::size_t>(to.next - to.begin) + trailer_bytes;
  channels_->sender(static_cast<std::size_t>(rank)).commit(bytes);
  to = {};
  if (rank == team_.rank()) return;
  sent_.messages += 1;
  sent_.wire_bytes += bytes;
  if (!team_.nodes().is_local(rank)) sent_.offnode_bytes += bytes;
}

bool one_hop::advance(bool done) {
  const int size = team_.size();
  if (!done) return true;
  for (int step = 1; step <= size && last_sent_count_ < lanes_.size(); ++step) {
    const int rank = (team_.rank() + step) % size;  // in an order that starts behind the own rank: no common target
    if (last_sent_[rank] || !open(rank)) continue;
    send(rank, last_buffer);
    last_sent_[rank] = 1;
    ++last_sent_count_;
  }
  if (last_sent_count_ < lanes_.size() || ended_count_ < lanes_.size()) return true;
  std::fill(last_sent_.begin(), last_sent_.end(), 0);
  std::fill(ended_.begin(), ended_.end(), 0);
  last_sent_count_ = ended_count_ = 0;
  return false;
}

}  // namespace longshore::gathering
