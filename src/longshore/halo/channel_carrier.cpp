#include <longshore/halo/channel_carrier.hpp>

#include <cassert>

namespace longshore {
namespace {

constexpr int slots = 2;

}  // namespace

channel_carrier::channel_carrier(team& team, const halo_round& round, const carrier_options& options)
    : delivery_(options.delivery), workers_(options.workers), received_(round.size(), nullptr) {
  // Legs are in the same order on all ranks, and each leg is at most one message of a pair: so the n-th channel that a rank names
  // towards another is the n-th that the other names from it, also where both sides of a rank are the same neighbour.
  std::vector<channel_end> to, from;
  for (std::size_t leg = 0; leg < round.size(); ++leg) {
    const auto& [direction, out, in] = round[leg];
    if (out.exists()) {
      ++moved_.messages;
      moved_.payload_bytes += out.size_bytes();
      moved_.wire_bytes += out.size_bytes();
      if (!team.nodes().is_local(out.peer)) moved_.offnode_bytes += out.size_bytes();
      outgoing_.push_back({packed_message(out), nullptr});
      to.push_back({out.peer, out.size_bytes()});
    }
    if (in.exists()) {
      if (delivery_ == halo_delivery::unpacked) received_[leg] = in.dense();
      incoming_.push_back({packed_message(in), nullptr, leg});
      from.push_back({in.peer, in.size_bytes()});
    }
  }
  channels_ = team.open_channels(to, from, slots);
  for (std::size_t i = 0; i < outgoing_.size(); ++i) outgoing_[i].channel = &channels_->sender(i);
  for (std::size_t i = 0; i < incoming_.size(); ++i) incoming_[i].channel = &channels_->receiver(i);
  pending_.reserve(incoming_.size());
}

void channel_carrier::release_kept() {
  if (!keeps_slots_) return;
  for (auto& in : incoming_) in.channel->release();
  keeps_slots_ = false;
}

void channel_carrier::start() {
  assert(sent_ == outgoing_.size() || sent_ == 0);
  release_kept();
  sent_ = 0;
  pending_.clear();
  for (std::size_t i = 0; i < incoming_.size(); ++i) pending_.push_back(i);
  send();
}

void channel_carrier::send() {
  for (; sent_ < outgoing_.size(); ++sent_) {
    auto& out = outgoing_[sent_];
    std::byte* const slot = out.channel->reserve();
    if (slot == nullptr) return;
    out.message.pack(slot, workers_);
    out.channel->commit(out.message.size_bytes());
  }
}

void channel_carrier::receive() {
  for (std::size_t i = 0; i < pending_.size();) {
    auto& in = incoming_[pending_[i]];
    const auto message = in.channel->front();
    if (!message) {
      ++i;
      continue;
    }
    if (delivery_ == halo_delivery::unpacked) {
      assert(message->size() == in.message.size_bytes());
      in.message.unpack(message->data(), workers_);
      in.channel->release();
    } else {
      received_[in.leg] = message->data();
      keeps_slots_ = true;
    }
    pending_[i] = pending_.back();
    pending_.pop_back();
  }
}

void channel_carrier::progress() {
  send();
  receive();
}

int channel_carrier::awaited_peer() const {
  return pending_.empty() ? outgoing_[sent_].channel->peer() : incoming_[pending_.front()].channel->peer();
}

}  // namespace longshore
