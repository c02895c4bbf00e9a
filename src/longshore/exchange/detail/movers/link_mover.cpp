// Divides the messages of a round among direct reads, posted messages and channels.
#include <longshore/exchange/detail/movers/link_mover.hpp>

#include <cassert>

namespace longshore::detail {
namespace {

void begin(std::vector<std::size_t>& pending, std::size_t count) {
  pending.clear();
  for (std::size_t i = 0; i < count; ++i) pending.push_back(i);
}

bool is_posted(const team& ranks, int peer) {
  return are_posted_between_nodes(ranks) && !ranks.nodes().is_local(peer);
}

}  // namespace

link_mover::link_mover(const mover_context& context, const exchange_round& round,
                       direct_peers* peers, std::size_t number)
    : context_(context), peers_(peers), number_(number), store_(context) {
  const auto direct_peer_of = [&](int rank) {
    return peers == nullptr ? nullptr : peers->find(rank);
  };
  for (const auto& out : round.outgoing) {
    const auto* const peer = direct_peer_of(out.peer);
    if (peer != nullptr && peer->is_read(out)) {
      if (lent_.empty() || lent_.back().peer != out.peer)
        lent_.push_back(
            {out.peer, peer->signals_from_peer + number, peer->signals_to_peer + number});
      continue;
    }
    message_packer packed(context, out);
    ++moved_.messages;
    moved_.wire_bytes += packed.bytes();
    if (!context.ranks.nodes().is_local(out.peer)) moved_.offnode_bytes += packed.bytes();
    if (is_posted(context.ranks, out.peer))
      posted_outgoing_.push_back({out.peer, std::move(packed)});
    else
      sent_.push_back({out.peer, std::move(packed), nullptr});
  }
  for (std::size_t i = 0; i < round.incoming.size(); ++i) {
    const auto& in = round.incoming[i];
    const auto* const peer = direct_peer_of(in.peer);
    if (in.peer == context.ranks.rank()) {
      store_.add(in, &context.memories);
      own_.push_back(i);
      link_of_.push_back({way::own, 0});
    } else if (peer != nullptr && peer->can_read(in)) {
      store_.add(in, &peer->memories);
      if (read_.empty() || read_.back().peer != in.peer)
        read_.push_back(
            {in.peer, peer->signals_from_peer + number, peer->signals_to_peer + number, {}, 0});
      link_of_.push_back({way::read, read_.size() - 1});
      read_.back().numbers.push_back(i);
    } else if (is_posted(context.ranks, in.peer)) {
      store_.add(in, nullptr);
      link_of_.push_back({way::posted, 0});
      posted_incoming_.push_back({in.peer, i});
    } else {
      store_.add(in, nullptr);
      link_of_.push_back({way::received, received_.size()});
      received_.push_back({in.peer, i, nullptr});
    }
  }
  store_.sort();
  pending_received_.reserve(received_.size());
  pending_lent_.reserve(lent_.size());
  pending_read_.reserve(read_.size());
  arrived_.reserve(posted_incoming_.size());
  post();
}

void link_mover::post() {
#ifdef LONGSHORE_HAVE_MPI
  if (!are_posted_between_nodes(context_.ranks)) return;
  std::vector<posted_end> to, from;
  for (const auto& out : posted_outgoing_) to.push_back({out.peer, out.message.bytes()});
  for (const auto& in : posted_incoming_)
    from.push_back({in.peer, store_.message_bytes(in.number)});
  posted_ = mpi::make_request_messages(context_.ranks, to, from);
#endif
}

void link_mover::add_channels(std::vector<channel_end>& to, std::vector<channel_end>& from) const {
  for (const auto& out : sent_) to.push_back({out.peer, out.message.bytes()});
  for (const auto& in : received_) from.push_back({in.peer, store_.message_bytes(in.number)});
}

void link_mover::take_channels(channel_set& set, std::size_t& sender, std::size_t& receiver) {
  for (auto& out : sent_) out.channel = &set.sender(sender++);
  for (auto& in : received_) in.channel = &set.receiver(receiver++);
}

// Outgoing messages come first, because other ranks wait for them.
void link_mover::start(std::span<const combiner> combiners) {
  ++exchange_;
  store_.start(combiners);
  next_sent_ = 0;
  begin(pending_received_, received_.size());
  begin(pending_lent_, lent_.size());
  begin(pending_read_, read_.size());
  for (auto& read : read_) read.missing = read.numbers.size();
  for (const auto& lent : lent_) signal(context_.ranks, lent.to_peer->ready, exchange_, lent.peer);
  if (posted_) {
    posted_->start();
    for (std::size_t i = 0; i < posted_outgoing_.size(); ++i) {
      posted_outgoing_[i].message.pack(context_, posted_->outgoing(i));
      posted_->send(i);
    }
  }
  send();
  for (const auto i : own_) store_.arrive(i, nullptr, [this](std::size_t k) { finish(k); });
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

// Message k was stored. So its slot is free. If it was the last one of a peer, the peer may write its
// memory.
void link_mover::finish(std::size_t k) {
  const auto [by, index] = link_of_[k];
  if (by == way::received) received_[index].channel->release();
  if (by != way::read || --read_[index].missing > 0) return;
  signal(context_.ranks, read_[index].to_peer->taken, exchange_, read_[index].peer);
}

void link_mover::progress() {
  const auto finished = [this](std::size_t k) { finish(k); };
  send();
  before_polls(context_.ranks);
  std::erase_if(pending_read_, [&](std::size_t i) {
    const auto& read = read_[i];
    if (read.from_peer->ready.load(std::memory_order_acquire) < exchange_) return false;
    if (peers_->follow(read.peer, number_)) store_.rebind();
    for (const auto number : read.numbers) store_.arrive(number, nullptr, finished);
    return true;
  });
  std::erase_if(pending_received_, [&](std::size_t i) {
    const auto message = received_[i].channel->front();
    if (!message) return false;
    assert(message->size() == store_.message_bytes(received_[i].number));
    store_.arrive(received_[i].number, message->data(), finished);
    return true;
  });
  if (posted_ && !posted_->is_done()) {
    arrived_.clear();
    posted_->poll(arrived_);
    for (const auto i : arrived_)
      store_.arrive(posted_incoming_[i].number, posted_->incoming(i), finished);
  }
  std::erase_if(pending_lent_, [&](std::size_t i) {
    return lent_[i].from_peer->taken.load(std::memory_order_acquire) >= exchange_;
  });
}

int link_mover::awaited_peer() const {
  if (!pending_read_.empty()) return read_[pending_read_.front()].peer;
  if (!pending_received_.empty()) return received_[pending_received_.front()].peer;
  if (next_sent_ < sent_.size()) return sent_[next_sent_].peer;
  if (!pending_lent_.empty()) return lent_[pending_lent_.front()].peer;
  if (!posted_incoming_.empty()) return posted_incoming_.front().peer;
  return posted_outgoing_.empty() ? -1 : posted_outgoing_.front().peer;
}

std::size_t link_mover::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + store_.memory_bytes() +
                      (lent_.size() + read_.size()) * (sizeof(read_messages) + 128);
  for (const auto& out : sent_)
    bytes += sizeof(out) + out.message.memory_bytes() + slots_per_channel * out.message.bytes();
  for (const auto& in : received_)
    bytes += sizeof(in) + slots_per_channel * store_.message_bytes(in.number);
  for (const auto& out : posted_outgoing_) bytes += sizeof(out) + out.message.memory_bytes();
  if (posted_) bytes += posted_->memory_bytes();
  return bytes;
}

}  // namespace longshore::detail
