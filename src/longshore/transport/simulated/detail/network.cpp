// The events of a message. Between nodes:
//   start      the sender spends o + O per byte; its card sends from the time it is free, and is
//              free again after g + G for each byte after the first
//   arrives    the head of the message is at the receiver's card, after L and the links of the
//              route
//   delivered  the receiver's card has taken all bytes: after G for each byte after the first, or
//              later behind a slower link or earlier messages. Memory and signal change now
// The receiver of a channel's message spends o + O per byte when it takes the message; the target
// of a put spends nothing. Within a node, a message is delivered after the latency of memory. A get
// and a fetch-and-add return a second message. On one node, the processor of the rank adds instead.
//
// Before a rank takes the memory of its node, or the card, it lets all earlier events happen. So
// ranks take what they share in the order of simulated time, not in that of their contexts.
#include <longshore/transport/simulated/detail/channels.hpp>
#include <longshore/transport/simulated/detail/network.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace longshore::simulated {
namespace {

// Whether `ranks` ranks of a node that copy at once can exceed the rate of its memory. Equal rates
// that calibrate has written may differ in the last digit.
bool exceed_node_memory(const machine& described, int ranks) {
  constexpr double last_digit = 1e-3;
  const auto& memory = described.memory;
  const double fastest =
      std::min({memory.own_copy.least(), memory.near_copy.least(), memory.far_copy.least()});
  return memory.node_copy * ranks > fastest * (1 + last_digit);
}

// Bytes of a message on the wire. A signal without data counts as one word.
std::size_t wire_bytes(std::size_t bytes) { return std::max(bytes, word_bytes); }

}  // namespace

network::network(const machine& described, engine& events, int ranks)
    : machine_(described),
      engine_(events),
      links_(described),
      nodes_(static_cast<std::size_t>(described.nodes)),
      memory_is_limited_(exceed_node_memory(described, std::min(ranks, described.ranks_per_node))),
      pending_(static_cast<std::size_t>(ranks)) {
  const int on_node = std::min(ranks, described.ranks_per_node), cores = described.cores;
  if (cores == 0 || cores >= on_node) return;
  ranks_per_core_ = static_cast<std::size_t>((on_node + cores - 1) / cores);
  for (auto& each : nodes_) each.cores_free.resize(static_cast<std::size_t>(cores));
}

void network::compute(int rank, double seconds) {
  if (seconds == 0) return;
  auto& free = node_of(rank).cores_free;
  if (!free.empty()) {
    // Takes the free core that became free last: it is the core of this rank. If no core is free,
    // takes the core that becomes free first.
    const double now = engine_.clock(rank);
    auto core = free.end();
    for (auto it = free.begin(); it != free.end(); ++it)
      if (*it <= now && (core == free.end() || *it > *core)) core = it;
    if (core == free.end()) core = std::min_element(free.begin(), free.end());
    const double begins = std::max(now, *core);
    *core = begins + seconds;
    seconds += begins - now;
  }
  engine_.advance(rank, seconds);
}

void network::wait(int rank, const char* operation, int peer) {
  if (engine_.block(rank, operation, peer) && ranks_per_core_ > 1)
    engine_.advance(rank, machine_.core_switch);
}

void network::charge_copy(int rank, int peer, std::size_t bytes, std::size_t touched_bytes) {
  if (bytes == 0) return;
  const auto& memory = machine_.memory;
  const auto amount = static_cast<double>(bytes);
  const bool is_own = rank == peer || machine_.node_of(rank) != machine_.node_of(peer);
  const bool is_near = machine_.domain_of(rank) == machine_.domain_of(peer);
  const auto& rates = is_own ? memory.own_copy : is_near ? memory.near_copy : memory.far_copy;
  double seconds = amount * rates.of(in_caches(touched_bytes));
  if (memory_is_limited_) {
    node& shared = node_of(rank);
    // Ranks that share cores run in turn: each keeps its core until it waits.
    if (shared.cores_free.empty()) engine_.synchronise(rank);
    const double now = engine_.clock(rank);
    shared.memory_free = std::max(shared.memory_free, now) + amount * memory.node_copy;
    seconds = std::max(seconds, shared.memory_free - now);
  }
  compute(rank, seconds);
}

void network::charge_copy(int rank, int peer, const detail::copied_cells& cells) {
  charge_copy(rank, peer, cells.bytes, cells.touched_bytes);
  compute(rank, cells.lines * machine_.cache_lines.of(in_caches(cells.touched_bytes)));
}

void network::charge_receive(int rank, std::size_t bytes) {
  const auto& costs = machine_.network;
  engine_.advance(rank, costs.receive_overhead +
                            static_cast<double>(wire_bytes(bytes)) * costs.overhead_per_byte);
}

std::uint32_t network::free_message() {
  if (free_messages_.empty()) {
    const auto first = static_cast<std::uint32_t>(message_blocks_.size() * messages_per_block);
    message_blocks_.push_back(std::make_unique<message[]>(messages_per_block));
    for (std::uint32_t i = messages_per_block; i > 0; --i) free_messages_.push_back(first + i - 1);
  }
  const std::uint32_t id = free_messages_.back();
  free_messages_.pop_back();
  return id;
}

std::uint32_t network::start_message(const transfer& wanted) {
  const int rank = wanted.from;
  const bool is_put = wanted.kind == transfer::operation::put, near = is_near(wanted);
  const std::size_t sent = is_put ? wire_bytes(wanted.bytes) : word_bytes;
  const auto& costs = machine_.network;
  if (!near)
    engine_.advance(rank,
                    costs.send_overhead + static_cast<double>(sent) * costs.overhead_per_byte);
  engine_.synchronise(rank);  // before the rank takes the memory of its node, or the card
  if (near) charge_copy(rank, wanted.to, wanted.bytes, bytes_touched_by_copy(wanted.bytes));
  const std::uint32_t id = free_message();
  message& started = message_of(id);
  started.what = wanted;
  if (wanted.keeps_copy) {
    started.copy.assign(wanted.local, wanted.local + wanted.bytes);
    started.what.local = started.copy.data();
  }
  ++pending_[rank].transfers;
  if (!near) {
    send(engine_.clock(rank), rank, wanted.to, sent, arrives, id);
  } else if (wanted.kind == transfer::operation::fetch_add && has_one_node()) {
    update_at(engine_.clock(rank), id);
  } else {
    engine_.schedule(engine_.clock(rank) + machine_.memory.latency, is_put ? delivered : arrives,
                     id);
  }
  return id;
}

void network::start(const transfer& wanted) { start_message(wanted); }

std::int64_t network::complete(const transfer& wanted) {
  bool is_complete = false;
  std::int64_t result = 0;
  message& started = message_of(start_message(wanted));
  started.is_complete = &is_complete;
  started.result = &result;
  while (!is_complete)
    wait(wanted.from, wanted.kind == transfer::operation::get ? "a get" : "a fetch-and-add",
         wanted.to);
  return result;
}

void network::quiet(int rank) {
  pending_[rank].in_quiet = true;
  while (pending_[rank].transfers > 0) wait(rank, "the completion of its puts and gets", -1);
  pending_[rank].in_quiet = false;
  engine_.advance_to(rank, pending_[rank].complete_at);
}

void network::send(double time, int from, int to, std::size_t bytes, event kind, std::uint32_t id) {
  double& free = node_of(from).out_free;
  const double begins = std::max(time, free);
  free = begins + machine_.network.gap + machine_.network.wire_seconds(bytes);
  message& moved = message_of(id);
  moved.links = links_.route_of(machine_.node_of(from), machine_.node_of(to));
  moved.crossed = 0;
  moved.at_card = kind;
  engine_.schedule(begins + machine_.network.latency, moved.links.count == 0 ? kind : crosses, id);
}

void network::cross(message& moved, std::uint32_t id) {
  const transfer& it = moved.what;
  const bool is_reply = moved.at_card == returns;
  const bool has_bytes = is_reply == (it.kind == transfer::operation::get);
  const double passed = links_.cross(moved.links.links[moved.crossed], engine_.time(),
                                     has_bytes ? wire_bytes(it.bytes) : word_bytes);
  engine_.schedule(passed, ++moved.crossed == moved.links.count ? moved.at_card : crosses, id);
}

void network::receive(int rank, std::size_t bytes, event kind, std::uint32_t id) {
  double& free = node_of(rank).in_free;
  const double now = engine_.time(), begins = std::max(now, free),
               wire = machine_.network.wire_seconds(bytes);
  free = begins + machine_.network.gap + wire;
  const double last_byte = now + links_.link_seconds(message_of(id).links, bytes);
  engine_.schedule(std::max(begins + wire, last_byte), kind, id);
}

void network::update_at(double time, std::uint32_t id) {
  double& free = node_of(message_of(id).what.to).atomics_free;
  free = std::max(free, time) + machine_.memory.atomic;
  engine_.schedule(free, updates, id);
}

void network::change(int rank, const void* at, int peer, std::function<bool()> make) {
  engine_.synchronise(rank);
  if (peer == rank) {
    if (make()) engine_.wake(rank);  // so that this rank does not wait before it has looked
    return;
  }
  std::uint32_t id = static_cast<std::uint32_t>(changes_.size());
  if (free_changes_.empty()) {
    changes_.push_back({at, peer, std::move(make)});
  } else {
    id = free_changes_.back();
    free_changes_.pop_back();
    changes_[id] = {at, peer, std::move(make)};
  }
  engine_.schedule(engine_.clock(rank) + machine_.memory.latency, visible, id);
}

void network::forget_changes(const std::byte* begin, std::size_t bytes) noexcept {
  const std::less<> before;
  for (auto& change : changes_) {
    const auto* const at = static_cast<const std::byte*>(change.at);
    if (!before(at, begin) && before(at, begin + bytes)) change.at = nullptr;
  }
}

void network::handle(int kind, std::uint32_t id) {
  if (kind == visible) {
    const auto& it = changes_[id];
    if (it.at != nullptr && it.make()) engine_.wake(it.peer);
    free_changes_.push_back(id);
    return;
  }
  message& moved = message_of(id);
  const transfer& it = moved.what;
  const bool near = is_near(it);
  switch (static_cast<event>(kind)) {
    case crosses: cross(moved, id); break;
    case arrives:
      if (it.kind == transfer::operation::put) {
        receive(it.to, wire_bytes(it.bytes), delivered, id);
      } else if (it.kind == transfer::operation::fetch_add) {
        update_at(engine_.time(), id);
      } else if (near) {
        engine_.schedule(engine_.time() + machine_.memory.latency, completed, id);
      } else {
        send(engine_.time(), it.to, it.from, wire_bytes(it.bytes), returns, id);
      }
      break;
    case updates: {
      std::int64_t value = 0;
      std::memcpy(&value, it.remote, sizeof value);
      const std::int64_t updated = value + it.amount;
      std::memcpy(it.remote, &updated, sizeof updated);
      moved.what.amount = value;
      engine_.wake(it.to);
      if (near)
        engine_.schedule(engine_.time() + (has_one_node() ? 0 : machine_.memory.latency), completed,
                         id);
      else
        send(engine_.time(), it.to, it.from, word_bytes, returns, id);
      break;
    }
    case returns: receive(it.from, wire_bytes(it.bytes), completed, id); break;
    case delivered: deliver(moved, id); break;
    case completed:
      if (it.kind == transfer::operation::get && it.bytes > 0)
        std::memcpy(it.local, it.remote, it.bytes);
      if (moved.result != nullptr) *moved.result = it.amount;
      if (moved.is_complete != nullptr) *moved.is_complete = true;
      if (!near) engine_.add_debt(it.from, machine_.network.receive_overhead);
      release(id, engine_.time());
      break;
    case visible: break;  // above
  }
}

void network::fetch(int kind, std::uint32_t id, bool is_next) noexcept {
  if (kind == visible) {
    const auto& change = changes_[id];
    __builtin_prefetch(&change);
    if (is_next) __builtin_prefetch(change.at, 1);
    return;
  }
  const message& moved = message_of(id);
  __builtin_prefetch(&moved);
  __builtin_prefetch(reinterpret_cast<const std::byte*>(&moved) + cache_line_bytes);
  if (is_next && kind == delivered) {
    __builtin_prefetch(moved.what.remote, 1);
    __builtin_prefetch(moved.what.signal_at, 1);
  }
}

void network::deliver(message& arrived, std::uint32_t id) {
  const transfer& it = arrived.what;
  if (it.gives_message)
    reinterpret_cast<arrivals*>(it.remote)->append(*reinterpret_cast<given_message*>(it.local));
  else if (it.bytes > 0)
    std::memcpy(it.remote, it.local, it.bytes);
  const bool near = is_near(it);
  if (it.signal_at != nullptr) std::memcpy(it.signal_at, &it.signal, sizeof it.signal);
  if (!it.is_credit ||
      std::exchange(reinterpret_cast<arrived_credit*>(it.signal_at)->is_wanted, 0) != 0)
    engine_.wake(it.to);
  // The sender learns of the end by an acknowledgement of the network.
  release(id, engine_.time() + (near ? machine_.memory.latency : machine_.network.latency));
}

void network::release(std::uint32_t id, double complete_at) {
  message& done = message_of(id);
  pending& of_rank = pending_[done.what.from];
  of_rank.complete_at = std::max(of_rank.complete_at, complete_at);
  const bool was_last = --of_rank.transfers == 0;
  if ((was_last && of_rank.in_quiet) || done.is_complete != nullptr) engine_.wake(done.what.from);
  done.copy.clear();
  done.is_complete = nullptr;
  done.result = nullptr;
  free_messages_.push_back(id);
}

}  // namespace longshore::simulated
