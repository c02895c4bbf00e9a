#include <longshore/halo/channel_carrier.hpp>
#include <longshore/transport/waiter.hpp>

#include <cassert>
#include <cstring>

namespace longshore {
namespace {

constexpr int slots = 2;
constexpr int slots_of_a_loan = 1;  // free again means: the receiver has what it borrowed

// From here on one copy less is worth more than not having to wait for the receiver.
constexpr std::size_t least_lent_bytes = 16384;

}  // namespace

channel_carrier::channel_carrier(team& team, const halo_round& round, halo_delivery delivery, const segment* readable)
    : team_(team), delivery_(delivery), received_(round.size(), nullptr) {
  // Legs are in the same order on all ranks, and each leg is at most one message of a pair: so the n-th channel that a rank names
  // towards another is the n-th that the other names from it, also where both sides of a rank are the same neighbour.
  const auto is_lent = [&](const halo_message& message) {
    return readable != nullptr && delivery == halo_delivery::unpacked && message.size_bytes() >= least_lent_bytes &&
           team.nodes().is_local(message.peer);
  };
  std::vector<channel_end> to, from, lent_to, lent_from;
  for (std::size_t leg = 0; leg < round.size(); ++leg) {
    const auto& [direction, out, in] = round[leg];
    if (delivery == halo_delivery::unpacked) received_[leg] = in.dense();
    if (out.exists()) {
      moved_.payload_bytes += out.size_bytes();
      if (out.peer == team.rank()) {
        copy_to_self(round[leg], leg);
        continue;
      }
      ++moved_.messages;
      moved_.wire_bytes += is_lent(out) ? sizeof(std::uint64_t) : out.size_bytes();
      if (!team.nodes().is_local(out.peer)) moved_.offnode_bytes += out.size_bytes();
      if (is_lent(out)) {
        assert(out.dense() != nullptr);
        lent_.push_back({static_cast<std::uint64_t>(out.dense() - readable->local()), nullptr});
        lent_to.push_back({out.peer, sizeof(std::uint64_t)});
      } else {
        outgoing_.push_back({packed_message(out), nullptr});
        to.push_back({out.peer, out.size_bytes()});
      }
    }
    if (in.exists()) {
      const bool borrowed = is_lent(in);
      incoming_.push_back({packed_message(in), nullptr, leg, borrowed ? readable->direct(in.peer) : nullptr});
      (borrowed ? lent_from : from).push_back({in.peer, borrowed ? sizeof(std::uint64_t) : in.size_bytes()});
    }
  }
  channels_ = team.open_channels(to, from, slots);
  if (readable != nullptr) loans_ = team.open_channels(lent_to, lent_from, slots_of_a_loan);
  for (std::size_t i = 0; i < outgoing_.size(); ++i) outgoing_[i].channel = &channels_->sender(i);
  for (std::size_t i = 0; i < lent_.size(); ++i) lent_[i].channel = &loans_->sender(i);
  std::size_t in_slots = 0, in_loans = 0;
  for (auto& in : incoming_) in.channel = in.lender != nullptr ? &loans_->receiver(in_loans++) : &channels_->receiver(in_slots++);
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
  assert(sent_ == outgoing_.size() || sent_ == 0);
  release_kept();
  sent_ = returned_ = 0;
  pending_.clear();
  for (std::size_t i = 0; i < incoming_.size(); ++i) pending_.push_back(i);
  // Others wait for what leaves here: that goes first, and what arrived meanwhile is taken last.
  for (auto& loan : lent_) {
    std::byte* const slot = loan.channel->reserve();
    assert(slot != nullptr);  // the exchange before ended when it was returned
    std::memcpy(slot, &loan.offset, sizeof(loan.offset));
    loan.channel->commit(sizeof(loan.offset));
  }
  send();
  for (const auto& self : self_) self.copy(self.to, self.from);
  receive();
}

void channel_carrier::send() {
  for (; sent_ < outgoing_.size(); ++sent_) {
    auto& out = outgoing_[sent_];
    std::byte* const slot = out.channel->reserve();
    if (slot == nullptr) return;
    out.message.pack(slot);
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
    if (in.lender != nullptr) {
      std::uint64_t offset = 0;
      std::memcpy(&offset, message->data(), sizeof(offset));
      in.message.unpack(in.lender + offset);
      in.channel->release();
    } else if (delivery_ == halo_delivery::unpacked) {
      assert(message->size() == in.message.size_bytes());
      in.message.unpack(message->data());
      in.channel->release();
    } else {
      received_[in.leg] = message->data();
      keeps_slots_ = true;
    }
    pending_[i] = pending_.back();
    pending_.pop_back();
  }
}

bool channel_carrier::is_all_returned() {
  while (returned_ < lent_.size() && lent_[returned_].channel->reserve() != nullptr) ++returned_;
  return returned_ == lent_.size();
}

bool channel_carrier::progress() {
  send();
  receive();
  return sent_ == outgoing_.size() && pending_.empty() && is_all_returned();
}

int channel_carrier::awaited_peer() const {
  if (!pending_.empty()) return incoming_[pending_.front()].channel->peer();
  if (sent_ < outgoing_.size()) return outgoing_[sent_].channel->peer();
  return lent_[returned_].channel->peer();
}

void channel_carrier::wait() {
  while (!progress()) {
    // The deadline runs from the last step forward.
    const auto left = [this] { return pending_.size() + outgoing_.size() - sent_ + lent_.size() - returned_; };
    const std::size_t before = left();
    for (waiter waiting(team_, "a halo message", awaited_peer()); !progress() && left() == before; waiting.pause()) {
    }
  }
}

}  // namespace longshore
