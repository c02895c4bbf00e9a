#include <longshore/halo/channel_carrier.hpp>
#include <longshore/transport/waiter.hpp>

#include <cassert>

namespace longshore {
namespace {

constexpr int slots = 2;

}  // namespace

channel_carrier::channel_carrier(team& team, halo_round round, halo_delivery delivery)
    : team_(team), delivery_(delivery), received_(round.size(), nullptr) {
  // Legs are in the same order on all ranks, and each leg is at most one message of a pair: so the n-th channel that a rank names
  // towards another is the n-th that the other names from it, also where both sides of a rank are the same neighbour.
  std::vector<channel_end> to, from;
  for (std::size_t leg = 0; leg < round.size(); ++leg) {
    const auto& [direction, out, in] = round[leg];
    if (out.exists()) {
      moved_.payload_bytes += out.size_bytes();
      if (out.peer == team.rank()) {
        copy_to_self(round[leg], leg);
        continue;
      }
      to.push_back({out.peer, out.size_bytes()});
      outgoing_.push_back({packed_message(out), nullptr});
      ++moved_.messages;
      moved_.wire_bytes += out.size_bytes();
      if (!team.nodes().is_local(out.peer)) moved_.offnode_bytes += out.size_bytes();
    }
    if (in.exists()) {
      from.push_back({in.peer, in.size_bytes()});
      incoming_.push_back({packed_message(in), nullptr, leg});
    }
  }
  channels_ = team.open_channels(to, from, slots);
  for (std::size_t i = 0; i < outgoing_.size(); ++i) outgoing_[i].channel = &channels_->sender(i);
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    incoming_[i].channel = &channels_->receiver(i);
    if (delivery_ == halo_delivery::unpacked) received_[incoming_[i].leg] = round[incoming_[i].leg].incoming.dense();
  }
  pending_.reserve(incoming_.size());
}

// A rank that is its own neighbour in a direction is so on the other side as well: both messages of the leg are one copy.
void channel_carrier::copy_to_self(const halo_leg& leg, std::size_t index) {
  assert(leg.incoming.peer == team_.rank() && leg.incoming.parts.size() == leg.outgoing.parts.size());
  for (std::size_t part = 0; part < leg.outgoing.parts.size(); ++part) {
    const auto& to = leg.incoming.parts[part];
    const auto& from = leg.outgoing.parts[part];
    self_.push_back({to.first, from.first, strided_copy(to, from)});
  }
  received_[index] = leg.incoming.dense();
}

void channel_carrier::release_kept() {
  if (!keeps_slots_) return;
  for (auto& in : incoming_) in.channel->release();
  keeps_slots_ = false;
}

void channel_carrier::start() {
  assert(sent_ == 0 || (sent_ == outgoing_.size() && pending_.empty()));
  release_kept();
  sent_ = 0;
  pending_.clear();
  for (std::size_t i = 0; i < incoming_.size(); ++i) pending_.push_back(i);
  progress();  // others wait for these messages: they go first
  for (const auto& self : self_) self.copy(self.to, self.from);
}

bool channel_carrier::progress() {
  for (; sent_ < outgoing_.size(); ++sent_) {
    auto& out = outgoing_[sent_];
    std::byte* const slot = out.channel->reserve();
    if (slot == nullptr) break;
    out.message.pack(slot);
    out.channel->commit(out.message.size_bytes());
  }
  for (std::size_t i = 0; i < pending_.size();) {
    auto& in = incoming_[pending_[i]];
    const auto message = in.channel->front();
    if (!message) {
      ++i;
      continue;
    }
    assert(message->size() == in.message.size_bytes());
    if (delivery_ == halo_delivery::in_place) {
      received_[in.leg] = message->data();
      keeps_slots_ = true;
    } else {
      in.message.unpack(message->data());
      in.channel->release();
    }
    pending_[i] = pending_.back();
    pending_.pop_back();
  }
  return sent_ == outgoing_.size() && pending_.empty();
}

void channel_carrier::wait() {
  while (!progress()) {
    const std::size_t left = pending_.size(), sent = sent_;
    const int peer = pending_.empty() ? outgoing_[sent_].channel->peer() : incoming_[pending_.front()].channel->peer();
    // The deadline runs from the last message on.
    for (waiter waiting(team_, "a halo message", peer); !progress() && pending_.size() == left && sent_ == sent;
         waiting.pause()) {
    }
  }
}

}  // namespace longshore
