// Orders launches, messages and signals of one round.
#include <longshore/exchange/detail/device/device_mover.hpp>

#include <longshore/exchange/detail/device/device_pieces.hpp>
#include <longshore/exchange/detail/movers/posted_messages.hpp>
#include <longshore/exchange/device_installation.hpp>

#include <algorithm>
#include <mutex>

namespace longshore::detail {

device_mover::device_mover(const mover_context& context, plan_device& device,
                           const exchange_round& round, direct_peers* peers, std::size_t number)
    : context_(context),
      device_(device),
      peers_(peers),
      round_(number),
      combines_(round.combines),
      staged_context_{context.ranks, staged_memories_, context.workers} {
  if (peers != nullptr) {
    ready_event_ = peers->ready_event(number);
    taken_event_ = peers->taken_event(number);
  }
  for (auto* const event : {&ready_event_, &taken_event_})
    if (*event == nullptr)
      *event = own_events_.emplace_back(hold_event(device.driver, device.device)).get();
  staged_context_.awaited = context.awaited;
  staged_context_.posts_in_place = true;
  staged_ = {.pairs = round.pairs, .grid = round.grid};
  for (const auto& out : round.outgoing) add_outgoing(out);
  for (const auto& in : round.incoming) add_incoming(in);
  if (on_host_.bytes > 0) on_host_.memory = device.driver.allocate_pinned(on_host_.bytes);
  if (on_device_.bytes > 0)
    on_device_.memory = device.driver.allocate(device.device, on_device_.bytes);
  is_staged_ = !staged_.outgoing.empty() || !staged_.incoming.empty();
  for (const auto* const place : {&on_host_, &on_device_})
    staged_memories_.resize(staged_memories_.size() + 2, {{place->memory.get(), 1, 1}});
  std::stable_sort(stored_.begin(), stored_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.part.contributor, a.part.number) <
           std::pair(b.part.contributor, b.part.number);
  });
}

void device_mover::carry(const make_carrier& make) {
  carrier_ = make(staged_context_, staged_);
  staged_ = {};
}

// MPI may still use the messages of an exchange that has not ended, so they are never freed.
device_mover::~device_mover() {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::shared_ptr<std::byte>>;
  if (carrier_ == nullptr || carrier_->is_done()) return;
  const std::lock_guard lock(mutex);
  kept.insert(kept.end(), {on_host_.memory, on_device_.memory});
}

element_set device_mover::staging::end_message(std::size_t begin) {
  const std::size_t length = bytes - begin;
  bytes = round_up(bytes, cache_line_bytes);
  return element_box{static_cast<std::ptrdiff_t>(begin), {length, 1, 1}, {1, 0, 0}};
}

device_mover::staging& device_mover::staging_for(int peer) noexcept {
  using enum device_messages;
  const auto sent = device_.sent_from_device;
  return sent == all || (sent == posted && is_posted(context_, peer)) ? on_device_ : on_host_;
}

void device_mover::add_outgoing(const outgoing_message& out) {
  if (auto* const peer = peers_ == nullptr ? nullptr : peers_->find_direct(out)) {
    transfers_.read += payload_bytes(context_, out);
    if (find_peer(lent_, out.peer) == nullptr)
      lent_.push_back(direct_peers::link_to(*peer, round_));
    return;
  }
  auto& place = staging_for(out.peer);
  const std::size_t begin = place.bytes;
  for (const auto& part : out.parts)
    packed_.push_back({part, &place, place.add(context_.memory(part.memory), part.elements)});
  staged_.outgoing.push_back({out.peer, {{place.outgoing, place.end_message(begin)}}});
}

void device_mover::add_incoming(const incoming_message& in) {
  const auto add = [&](const rank_memories* sender) {
    for (const auto& part : in.parts) stored_.push_back({part, sender});
  };
  if (in.peer == context_.ranks.rank() && staged_.pairs.empty()) {
    transfers_.copied += payload_bytes(context_, in);
    return add(&context_.memories);
  }
  if (auto* const peer = peers_ == nullptr ? nullptr : peers_->find_direct(in)) {
    if (find_peer(read_, in.peer) == nullptr) read_.push_back(direct_peers::link_to(*peer, round_));
    return add(&peer->memories);
  }
  auto& place = staging_for(in.peer);
  const std::size_t begin = place.bytes;
  for (const auto& part : in.parts)
    stored_.push_back(
        {part, nullptr, &place, place.add(context_.memory(part.memory), part.elements)});
  const auto bytes = place.end_message(begin);
  staged_.incoming.push_back({in.peer, {{place.incoming, bytes, place.outgoing, bytes, in.peer}}});
}

void device_mover::prepare_packs() {
  piece_collector packs;
  for (const auto& [part, place, offset] : packed_) {
    const auto& memory = context_.memory(part.memory);
    const packed_layout layout(memory, part.elements.size(), offset);
    const element_set packed(0, part.elements.size());
    for (std::size_t k = 0; k < memory.size(); ++k)
      packs.add({packed, memory[k].packed_at(place->memory.get() + layout.offset(k))},
                {part.elements, memory[k]});
  }
  packs_ = device_.driver.prepare(device_.device, packs.pieces());
}

void device_mover::prepare_stores() {
  std::map<std::size_t, piece_collector> stores;  // by field; all in one if they are copied
  for (const auto& [part, sender, place, offset] : stored_) {
    const auto& memory = context_.memory(part.memory);
    const packed_layout layout(memory, part.elements.size(), offset);
    const element_set packed(0, part.elements.size());
    for (std::size_t k = 0; k < memory.size(); ++k) {
      auto& pieces = stores[combines_ ? static_cast<std::size_t>(memory[k].number) : 0];
      if (sender == nullptr)
        pieces.add({part.elements, memory[k]},
                   {packed, memory[k].packed_at(place->memory.get() + layout.offset(k))});
      else
        pieces.add(
            {part.elements, memory[k]},
            {part.sender_elements, (*sender)[static_cast<std::size_t>(part.sender_memory)][k]});
    }
  }
  if (!combines_)
    copies_ = device_.driver.prepare(device_.device, stores[0].pieces());
  else
    for (const auto& [field, pieces] : stores)
      sums_.push_back({field, device_.driver.prepare(device_.device, sums_of(pieces.pieces()))});
}

void device_mover::start(std::span<const combiner> combiners) {
  ++exchange_;
  combiners_ = combiners;
  carrier_started_ = false;
  is_stored_ = false;
  set_all_pending(pending_lent_, lent_.size());
  set_all_pending(still_to_read_, read_.size());
  staged_context_.clock = context_.clock;
  if (!packed_.empty()) {
    context_.enter(exchange_phase::pack);
    if (!packs_) prepare_packs();
    packs_(device_.stream);
    context_.enter(exchange_phase::send);
  }
  device_.driver.record(device_.device, device_.stream, *ready_event_);
  for (const auto& lent : lent_) {
    peers_->tell_binding(*lent.to_peer);
    lent.to_peer->ready_event.store(ready_event_, std::memory_order_relaxed);
    signal(context_.ranks, lent.to_peer->ready, exchange_, lent.peer);
  }
  set_state();
}

void device_mover::progress() {
  auto& driver = device_.driver;
  // The buffers of the exchange before are free, too: its work on the stream was earlier.
  const bool is_packed = carrier_started_ || !is_staged_ || driver.is_done(*ready_event_);
  // The time until the next call belongs to what this rank waits for.
  context_.enter(is_packed ? exchange_phase::wait : exchange_phase::pack);
  if (is_packed && !carrier_started_) start_carrier();
  if (carrier_started_ && !carrier_->is_done()) carrier_->progress();
  before_polls(context_.ranks);
  std::erase_if(still_to_read_, [&](std::size_t i) {
    auto& read = read_[i];
    if (read.from_peer->ready.load(std::memory_order_acquire) < exchange_) return false;
    // Launches of the exchange before may still use memory that is released.
    if (direct_peers::is_rebound(*read.source, round_)) driver.synchronise(*device_.done);
    if (peers_->follow(*read.source, round_, read.binding)) forget_stores();
    wait_for(peers_->ready_event_of(*read.source, round_));
    return true;
  });
  if (!is_stored_ && still_to_read_.empty() && carrier_started_ && carrier_->has_arrived()) store();
  std::erase_if(pending_lent_, [&](std::size_t i) {
    auto& lent = lent_[i];
    if (lent.from_peer->taken.load(std::memory_order_acquire) < exchange_) return false;
    wait_for(peers_->taken_event_of(*lent.source, round_));
    return true;
  });
  set_state();
}

// All messages have arrived, and this rank may read those that are lent.
void device_mover::store() {
  const timed_phase unpacking(context_.clock, exchange_phase::unpack);
  if (!stored_.empty()) {
    if (!copies_ && sums_.empty()) prepare_stores();
    if (copies_) copies_(device_.stream);
    for (const auto& [field, launch] : sums_) launch(device_.stream, combiners_[field].on_device);
  }
  device_.driver.record(device_.device, device_.stream, *taken_event_);
  for (const auto& read : read_) {
    read.to_peer->taken_event.store(taken_event_, std::memory_order_relaxed);
    signal(context_.ranks, read.to_peer->taken, exchange_, read.peer);
  }
  is_stored_ = true;
}

void device_mover::start_carrier() {
  const timed_phase sending(context_.clock, exchange_phase::send);
  carrier_->start({});
  carrier_started_ = true;
}

// For sequences of MPI calls, which read and lend nothing.
void device_mover::complete() {
  if (!carrier_started_) {
    context_.enter(exchange_phase::pack);
    device_.driver.synchronise(*ready_event_);
    context_.enter(exchange_phase::wait);
    start_carrier();
  }
  if (!carrier_->is_done()) carrier_->complete();
  if (!is_stored_) store();
  set_state();
}

void device_mover::set_state() noexcept {
  has_arrived_ = is_stored_;
  has_sent_ = carrier_started_ && carrier_->has_sent();
  is_done_ = has_arrived_ && has_sent_ && carrier_->is_done() && pending_lent_.empty();
}

int device_mover::awaited_peer() const {
  if (!still_to_read_.empty()) return read_[still_to_read_.front()].peer;
  if (carrier_started_ && !carrier_->is_done()) return carrier_->awaited_peer();
  return pending_lent_.empty() ? -1 : lent_[pending_lent_.front()].peer;
}

std::size_t device_mover::pending() const {
  return (carrier_started_ ? carrier_->pending() : stored_.size()) + still_to_read_.size() +
         pending_lent_.size();
}

exchange_transfers device_mover::transfers() const {
  auto all = transfers_;
  all += carrier_->transfers();
  return all;
}

carried_mover make_device_mover(const mover_context& context, plan_device& device,
                                const exchange_round& round, direct_peers* peers,
                                std::size_t number) {
  auto made = std::make_unique<device_mover>(context, device, round, peers, number);
  auto* const carried = made.get();
  return {std::move(made),
          [carried](const device_mover::make_carrier& make) { carried->carry(make); }};
}

device_installation::device_installation(device_driver& driver) : before_(install_driver(&driver)) {
  device_movers().store(make_device_mover);
}

}  // namespace longshore::detail
