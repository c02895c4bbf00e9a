// Divides the messages of a round among direct reads, posted messages and channels.
#include <longshore/exchange/detail/movers/link_mover.hpp>

#include <cassert>

namespace longshore::detail {

link_mover::link_mover(const mover_context& context, const exchange_round& round,
                       direct_peers* peers, std::size_t number)
    : context_(context), peers_(peers), round_(number), store_(context) {
  for (const auto& out : round.outgoing) add_outgoing(out);
  for (const auto& in : round.incoming) add_incoming(in);
  store_.sort();
  pending_received_.reserve(received_.size());
  pending_lent_.reserve(lent_.size());
  still_to_read_.reserve(read_.size());
  arrived_.reserve(posted_incoming_.size());
}

void link_mover::add_outgoing(const outgoing_message& out) {
  if (auto* const peer = peers_ == nullptr ? nullptr : peers_->find_direct(out)) {
    transfers_.read += payload_bytes(context_, out);
    if (find_peer(lent_, out.peer) == nullptr)
      lent_.push_back(direct_peers::link_to(*peer, round_));
    return;
  }
  message_packer packed(context_, out);
  ++moved_.messages;
  moved_.wire_bytes += packed.bytes();
  if (!context_.ranks.nodes().is_local(out.peer)) moved_.offnode_bytes += packed.bytes();
  if (is_posted(context_, out.peer)) {
    transfers_.posted += packed.payload_bytes();
    posted_outgoing_.push_back(
        {out.peer, std::move(packed),
         context_.posts_in_place ? contiguous_memory(context_, out) : nullptr});
  } else {
    transfers_.channels += packed.payload_bytes();
    sent_.push_back({out.peer, std::move(packed), nullptr});
  }
}

void link_mover::add_incoming(const incoming_message& in) {
  auto* const peer = peers_ == nullptr ? nullptr : peers_->find_direct(in);
  // Messages that are read from one rank are one message of the store.
  const auto add = [&](way by, std::size_t index, const rank_memories* sender) {
    number_of_.push_back(store_.add(in, sender));
    link_of_.push_back({by, index});
    return number_of_.back();
  };
  const auto append = [&](std::size_t number) {
    store_.append(number, in);
    number_of_.push_back(number);
  };
  if (in.peer == context_.ranks.rank()) {
    transfers_.copied += payload_bytes(context_, in);
    if (message_to_self_)
      append(*message_to_self_);
    else
      message_to_self_ = add(way::own, 0, &context_.memories);
  } else if (peer != nullptr) {
    if (const auto* const read = find_peer(read_, in.peer)) {
      append(read->number);
    } else {
      const std::size_t number = add(way::read, read_.size(), &peer->memories);
      read_.push_back({direct_peers::link_to(*peer, round_), number});
    }
  } else if (is_posted(context_, in.peer)) {
    const std::size_t number = add(way::posted, 0, nullptr);
    posted_incoming_.push_back(
        {in.peer, number, context_.posts_in_place ? contiguous_memory(context_, in) : nullptr});
  } else {
    const std::size_t number = add(way::received, received_.size(), nullptr);
    received_.push_back({in.peer, number, nullptr});
  }
}

link_mover::posted_ends link_mover::ends() const {
  posted_ends ends;
  for (const auto& out : posted_outgoing_)
    ends.to.push_back({out.peer, out.message.bytes(), out.in_place});
  for (const auto& in : posted_incoming_)
    ends.from.push_back({in.peer, store_.message_bytes(in.number), in.in_place});
  return ends;
}

void link_mover::post([[maybe_unused]] std::size_t piece_bytes) {
#ifdef LONGSHORE_HAVE_MPI
  const auto [to, from] = ends();
  posted_ = mpi::make_request_messages(context_.ranks, to, from, piece_bytes);
#endif
}

void link_mover::add_channels(shared_channels& to, shared_channels& from) const {
  std::map<int, std::size_t> sent, received;
  for (const auto& out : sent_) to.add(out.peer, sent[out.peer]++, out.message.bytes());
  for (const auto& in : received_)
    from.add(in.peer, received[in.peer]++, store_.message_bytes(in.number));
}

void link_mover::take_channels(channel_set& set, const shared_channels& to,
                               const shared_channels& from) {
  std::map<int, std::size_t> sent, received;
  for (auto& out : sent_) out.channel = &set.sender(to.index(out.peer, sent[out.peer]++));
  for (auto& in : received_) in.channel = &set.receiver(from.index(in.peer, received[in.peer]++));
}

const std::byte* link_mover::kept(std::size_t i) const {
  const std::size_t number = number_of_[i];
  return has_kept_slots_ && link_of_[number].by == way::received ? store_.packed(number) : nullptr;
}

// Outgoing messages come first, because other ranks wait for them.
void link_mover::start(std::span<const combiner> combiners) {
  ++exchange_;
  if (has_kept_slots_)
    for (const auto& in : received_) in.channel->release();
  has_kept_slots_ = false;
  store_.start(combiners);
  next_sent_ = 0;
  set_all_pending(pending_received_, received_.size());
  set_all_pending(pending_lent_, lent_.size());
  set_all_pending(still_to_read_, read_.size());
  for (const auto& lent : lent_) {
    peers_->tell_binding(*lent.to_peer);
    signal(context_.ranks, lent.to_peer->ready, exchange_, lent.peer);
  }
  if (posted_) {
    posted_->start();
    for (std::size_t i = 0; i < posted_outgoing_.size(); ++i) {
      const auto& out = posted_outgoing_[i];
      if (out.in_place == nullptr) out.message.pack(context_, posted_->outgoing(i));
      posted_->send(i);
    }
  }
  send();
  if (message_to_self_)
    store_.arrive(*message_to_self_, nullptr, [this](std::size_t k) { finish(k); });
  set_state();
}

void link_mover::send() {
  for (; next_sent_ < sent_.size(); ++next_sent_) {
    auto& out = sent_[next_sent_];
    std::byte* const slot = out.channel->reserve();
    if (slot == nullptr) return;
    out.message.pack(context_, slot);
    out.channel->commit(out.message.bytes());
  }
}

// Message k was stored. So its slot is free, or its sender may write its memory.
void link_mover::finish(std::size_t k) {
  const auto [by, index] = link_of_[k];
  if (by == way::read)
    signal(context_.ranks, read_[index].to_peer->taken, exchange_, read_[index].peer);
  else if (by == way::received && !context_.keeps_slots)
    received_[index].channel->release();
}

void link_mover::progress() {
  const auto finished = [this](std::size_t k) { finish(k); };
  if (next_sent_ < sent_.size()) {
    send();
    context_.enter(exchange_phase::wait);
  }
  before_polls(context_.ranks);
  std::erase_if(still_to_read_, [&](std::size_t i) {
    auto& read = read_[i];
    if (read.from_peer->ready.load(std::memory_order_acquire) < exchange_) return false;
    if (peers_->follow(*read.source, round_, read.binding)) store_.rebind();
    store_.arrive(read.number, nullptr, finished);
    return true;
  });
  std::erase_if(pending_received_, [&](std::size_t i) {
    const auto message = received_[i].channel->front();
    if (!message) return false;
    assert(message->size() == store_.message_bytes(received_[i].number));
    has_kept_slots_ = context_.keeps_slots;
    store_.arrive(received_[i].number, message->data(), finished, context_.keeps_slots);
    return true;
  });
  if (posted_ && !posted_->is_done()) {
    arrived_.clear();
    posted_->poll(arrived_);
    for (const auto i : arrived_)
      store_.arrive(posted_incoming_[i].number, posted_->incoming(i), finished,
                    posted_incoming_[i].in_place != nullptr);
  }
  std::erase_if(pending_lent_, [&](std::size_t i) {
    return lent_[i].from_peer->taken.load(std::memory_order_acquire) >= exchange_;
  });
  set_state();
  if (!is_done_ || !posted_) return;
  const timed_phase posting(context_.clock, exchange_phase::send);
  posted_->prepare_next();
}

int link_mover::awaited_peer() const {
  if (!still_to_read_.empty()) return read_[still_to_read_.front()].peer;
  if (!pending_received_.empty()) return received_[pending_received_.front()].peer;
  if (next_sent_ < sent_.size()) return sent_[next_sent_].peer;
  if (!pending_lent_.empty()) return lent_[pending_lent_.front()].peer;
  return posted_ == nullptr ? -1 : posted_->awaited_peer();
}

std::size_t link_mover::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + store_.memory_bytes() +
                      (lent_.size() + read_.size()) * (sizeof(read_messages) + 128);
  for (const auto& out : sent_) bytes += sizeof(out) + out.message.memory_bytes();
  bytes += received_.size() * sizeof(received_message);
  for (const auto& out : posted_outgoing_) bytes += sizeof(out) + out.message.memory_bytes();
  if (posted_) bytes += posted_->memory_bytes();
  return bytes;
}

}  // namespace longshore::detail
