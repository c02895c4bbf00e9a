// Neighbours on the node describe their memories to each other, and map those that they can.
#include <longshore/exchange/detail/movers/direct_peers.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/device/driver.hpp>
#include <longshore/exchange/detail/movers/pair_caches.hpp>
#include <longshore/transport/detail/handshake_message.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace longshore::detail {

// For memory without a handle, the address is 0; within a process, the offset is then the whole
// address. Device memory of another process is described by the line that has its handle.
struct described_memory {
  shared_memory_handle memory;
  std::uint64_t offset = 0;
  std::int64_t stride_bytes = 0;
};
// Whether and where other ranks can read a memory.
enum class exposure : std::uint32_t { none, host, device };
namespace {

struct description_header {
  described_memory signals = {}, board = {};
  std::uint32_t memories = 0, shares_events = 0;
};
// Before the fields of each memory. Fields that no rank can read are not described.
struct memory_header {
  std::uint32_t fields = 0;
  exposure where = exposure::none;
};
static_assert(sizeof(device_handle) <= sizeof(direct_signals));

template <class T>
T value_at(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// Returns whether other ranks of the node may be able to map the memory.
bool describe(described_memory& described, const bound_field& memory, bool needs_no_mapping) {
  described.stride_bytes = memory.stride_bytes;
  const auto address = reinterpret_cast<std::uint64_t>(memory.data);
  described.offset = address;
  if (needs_no_mapping) return true;
  if (memory.holder) {
    described.memory = memory.holder->handle;
    described.offset = address - described.memory.address;
    return true;
  }
  const auto found = find_shareable(memory.data);
  if (!found) return false;
  described.memory = found->handle;
  described.offset = address - found->handle.address;
  return true;
}

}  // namespace

// Both ends of a message decide alike, because both know the elements at the sender.
bool direct_peers::pays(const direct_peer& peer, const element_set& elements,
                        const bound_fields& at_sender, int memory) const {
  constexpr std::size_t packed_from_lines = 64, large_from_bytes = 16384;
  const auto& fields = memories_[static_cast<std::size_t>(memory)];
  const auto* const box = elements.box();
  // The fields of a memory of boxes are alike, so the first one decides for all.
  const auto counted = std::span(fields).first(box != nullptr ? 1 : fields.size());
  const std::size_t bytes = elements.size() * element_bytes_of(counted);
  if (policy_ >= read_policy::all) return policy_ == read_policy::all;
  if (access_.caches_of(peer.rank).packs(bytes)) return false;
  if (policy_ == read_policy::large_contiguous) {
    // Memories of boxes count bytes.
    return box != nullptr && bytes >= large_from_bytes && fields[0].stride_bytes == 1 &&
           box->is_contiguous(static_cast<std::ptrdiff_t>(fields[0].element_bytes));
  }
  std::size_t lines = 0;
  for (std::size_t f = 0; f < counted.size(); ++f)
    lines += line_count(elements, at_sender[f].stride_bytes, fields[f].element_bytes);
  return lines < packed_from_lines || lines * cache_line_bytes <= 2 * bytes;
}

bool direct_peers::is_read(const direct_peer& peer, const incoming_part& part) const {
  const auto sender_memory = static_cast<std::size_t>(part.sender_memory);
  return peer.readable[sender_memory] &&
         pays(peer, part.sender_elements, peer.memories[sender_memory], part.memory);
}

bool direct_peers::is_read(const direct_peer& peer, const outgoing_part& part) const {
  const auto memory = static_cast<std::size_t>(part.memory);
  return peer.read_by_peer[memory] && pays(peer, part.elements, memories_[memory], part.memory);
}

direct_peers::direct_peers(team& ranks, read_policy policy, std::shared_ptr<messenger> neighbours,
                           const rank_memories& memories, std::span<const std::size_t> elements,
                           std::size_t rounds)
    : ranks_(ranks),
      policy_(policy),
      memories_(memories),
      access_(node_access::of(ranks)),
      messenger_(std::move(neighbours)),
      rounds_(std::max(rounds, std::size_t{1})) {
  const auto all_peers = messenger_->peers();
  for (std::size_t i = 0; i < all_peers.size(); ++i)
    if (ranks.nodes().is_local(all_peers[i])) local_.push_back(i);
  signals_ = access_.signals().take(ranks, local_.size() * rounds_);

  const bool is_one_process = ranks.is_one_process();
  std::size_t fields = 0;
  for (const auto& memory : memories) fields += memory.size();
  if (!local_.empty()) {
    find_device(elements);
    const std::size_t bytes =
        memories.size() * sizeof(memory_header) + fields * sizeof(described_memory);
    event_lines_ = device_ ? 2 * rounds_ : 0;
    field_lines_begin_ = event_lines_ + 1 + bytes / sizeof(direct_signals);
    board_ = access_.signals().take(ranks, field_lines_begin_ + (device_ ? fields : 0));
    if (device_) share_events();
  }
  std::vector<std::byte> described_fields;
  exposed_ = describe_memories(memories, elements, described_fields);
  if (!local_.empty()) write_board(described_fields);
  knows_peers_ = !device_;
  description_header header{.memories = static_cast<std::uint32_t>(memories.size()),
                            .shares_events = events_.empty() ? 0U : 1U};
  (void)describe(header.board, {line(event_lines_)}, is_one_process);
  for (std::size_t i = 0; i < local_.size(); ++i) {
    direct_peer peer;
    peer.rank = all_peers[local_[i]];
    for (const auto where : exposed_) peer.read_by_peer.push_back(where != exposure::none);
    peer.signals_from_peer = signals_.get() + i * rounds_;
    if (is_one_process) access_.reach()[peer.rank] = true;
    const auto reach = access_.reach().find(peer.rank);
    if (reach == access_.reach().end())
      knows_peers_ = false;
    else if (reach->second)
      peer.has_signals = true;
    knows_peers_ = knows_peers_ && access_.caches().contains(peer.rank);
    (void)describe(header.signals, {reinterpret_cast<std::byte*>(peer.signals_from_peer)},
                   is_one_process);
    handshake_writer writer;
    writer.reserve(sizeof header + described_fields.size());
    writer.add(header);
    writer.add_values(std::span<const std::byte>(described_fields));
    descriptions_.push_back(writer.take());
    peers_.push_back(std::move(peer));
  }
}

std::vector<std::vector<std::byte>> direct_peers::exchange(
    const agreed_numbers& numbers, const when_agreed& agreed,
    const std::vector<std::vector<std::byte>>& attachments) {
  for (std::size_t i = 0; i < attachments.size(); ++i)
    descriptions_[i].insert(descriptions_[i].end(), attachments[i].begin(), attachments[i].end());
  const auto received = messenger_->exchange_with(local_, descriptions_, numbers, agreed);
  descriptions_.clear();
  std::vector<std::vector<std::byte>> received_attachments;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    handshake_reader reader(received[i]);
    map_memories(peers_[i], reader);
    const auto rest = reader.rest();
    received_attachments.emplace_back(rest.begin(), rest.end());
  }
  return received_attachments;
}

// A link needs two ranks that can signal each other. A message has the memory in which the sender
// measures trial messages. It also says whether the sender can signal its peer, whether it can wait
// for the events of its peer, and which memories its peer can read.
void direct_peers::confirm() {
  auto memory = access_.buffers().take(ranks_, measuring_memory::bytes);
  std::vector<std::vector<std::byte>> messages;
  for (const auto& peer : peers_) {
    handshake_writer message;
    message.add(memory.handle());
    message.add(peer.has_signals);
    message.add(!peer.events.empty());
    for (const bool is_readable : peer.readable) message.add(is_readable);
    messages.push_back(message.take());
  }
  const auto replies = messenger_->exchange_with(local_, messages);
  std::vector<shared_memory_handle> memories_of_peers;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    auto& peer = peers_[i];
    handshake_reader reply(replies[i]);
    memories_of_peers.push_back(reply.take<shared_memory_handle>());
    peer.has_signals = reply.take<bool>() && peer.has_signals;
    access_.reach()[peer.rank] = peer.has_signals;
    const bool can_wait = reply.take<bool>();
    for (std::size_t m = 0; m < exposed_.size(); ++m) peer.read_by_peer[m] = reply.take<bool>();
    if (!can_wait || peer.events.empty()) share_no_device(peer);
  }
  // All ranks take their peers in ascending order, so that no ranks wait for each other in a circle.
  auto& caches = access_.caches();
  const auto given = caches_by_environment();
  std::optional<pair_caches> known;  // of any far pair
  for (const auto& [rank, found] : caches)
    if (found.are_far) known = found;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto& peer = peers_[i];
    if (caches.contains(peer.rank)) continue;
    auto& found = caches[peer.rank];
    if (!peer.has_signals) continue;
    found = measure_caches(ranks_, peer.rank,
                           {.from_peer = *peer.signals_from_peer,
                            .to_peer = *peer.signals_to_peer,
                            .mine = memory,
                            .theirs = memories_of_peers[i],
                            .mappings = access_.mappings()},
                           given, known);
    if (found.are_far) known = found;
  }
  access_.buffers().give_back(std::move(memory));
}

// Only processes share device memory by handles, and only plans that read all.
void direct_peers::find_device(std::span<const std::size_t> elements) {
  auto* const driver = installed_driver();
  if (driver == nullptr || ranks_.is_one_process() || policy_ != read_policy::dense) return;
  try {
    for (std::size_t m = 0; m < memories_.size() && !device_; ++m)
      for (const auto& field : memories_[m])
        if (const int device = elements[m] == 0 ? -1 : driver->device_of(field.data); device >= 0)
          device_ = device;
  } catch (const error&) {  // place_of() has the same error, on which ranks agree
  }
}

void direct_peers::share_events() {
  auto& driver = *installed_driver();
  for (std::size_t i = 0; i < 2 * rounds_; ++i) {
    events_.push_back(hold_event(driver, *device_, true));
    const auto handle = driver.share_event(*device_, *events_.back());
    if (!handle) return events_.clear();
    std::memcpy(line(i), &*handle, sizeof *handle);
  }
}

void direct_peers::open_events(direct_peer& peer) {
  for (std::size_t i = 0; i < 2 * rounds_; ++i) {
    const std::byte* const handle = peer.board - (2 * rounds_ - i) * sizeof(direct_signals);
    auto event = installed_driver()->open_event(*device_, value_at<device_handle>(handle));
    if (event == nullptr) return peer.events.clear();
    peer.events.push_back(std::move(event));
  }
}

// Messages from and to the peer are packed.
void direct_peers::share_no_device(direct_peer& peer) const {
  if (!device_) return;
  peer.events.clear();
  peer.mappings.resize(peer.kept_mappings);
  for (std::size_t m = 0; m < peer.exposed.size(); ++m)
    if (peer.exposed[m] == exposure::device) peer.readable[m] = false;
  for (std::size_t m = 0; m < exposed_.size(); ++m)
    if (exposed_[m] == exposure::device) peer.read_by_peer[m] = false;
}

void direct_peers::use_device(device_driver& driver, int device) {
  if (!ranks_.is_one_process() || !reads()) return;
  while (events_.size() < 2 * rounds_) events_.push_back(hold_event(driver, device));
}

const device_event& direct_peers::event_of(const direct_peer& peer, std::size_t number,
                                           const std::atomic<const void*>& told) const {
  if (!ranks_.is_one_process()) return peer.events[number];
  return *static_cast<const device_event*>(told.load(std::memory_order_relaxed));
}

// A rank that ends in an error does not wait; its peers learn that it has released all.
void direct_peers::close(bool waits) noexcept {
  if (events_.empty()) return;
  try {
    std::vector<const direct_peer*> sharing;
    for (auto& peer : peers_) {
      if (!peer.has_signals || (peer.events.empty() && !ranks_.is_one_process())) continue;
      sharing.push_back(&peer);
      peer.events.clear();
      peer.mappings.resize(peer.kept_mappings);
      signal(ranks_, peer.signals_to_peer[0].closed, 1, peer.rank);
    }
    for (const auto* const peer : sharing)
      for (waiter waiting(ranks_, "peers that destroy a plan", peer->rank);
           waits && peer->signals_from_peer[0].closed.load(std::memory_order_acquire) == 0;
           waiting.pause())
        before_polls(ranks_);
  } catch (...) {  // the next call that waits reports it
    waits = false;
  }
  if (waits) return;
  for (auto& event : events_) (void)event.release();
  abandon_signals();
}

// Returns whether the field lies in device memory. Without a handle, the described address is 0.
bool direct_peers::describe_on_device(described_memory& described, const bound_field& memory,
                                      std::size_t number) const {
  if (!device_ || installed_driver()->device_of(memory.data) != *device_) return false;
  described.stride_bytes = memory.stride_bytes;
  const auto handle =
      events_.empty() ? std::nullopt : installed_driver()->share_memory(*device_, memory.data);
  if (!handle) return true;
  std::byte* const handle_line = line(field_lines_begin_ + number);
  std::memcpy(handle_line, &*handle, sizeof *handle);
  (void)describe(described, {handle_line, memory.stride_bytes}, false);
  return true;
}

// The descriptions of memories follow each other, each with a header.
std::vector<exposure> direct_peers::describe_memories(const rank_memories& memories,
                                                      std::span<const std::size_t> elements,
                                                      std::vector<std::byte>& description) const {
  handshake_writer fields;
  std::vector<exposure> all;
  std::size_t number = 0;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    std::vector<described_memory> described(memories[m].size());
    // A memory that other ranks could not read at first is not read at its new address.
    bool is_exposed = exposed_.empty() || exposed_[m] != exposure::none, is_on_device = false;
    for (std::size_t k = 0; k < described.size(); ++k) {
      const auto& field = memories[m][k];
      const bool needs_no_mapping = ranks_.is_one_process() || elements[m] == 0;
      bool is_described = false;
      if (!needs_no_mapping && describe_on_device(described[k], field, number)) {
        is_on_device = true;
        is_described = described[k].memory.address != 0;
      } else {
        is_described = describe(described[k], field, needs_no_mapping);
      }
      is_exposed = is_described && field.places == nullptr && is_exposed;
      ++number;
    }
    all.push_back(!is_exposed ? exposure::none : is_on_device ? exposure::device : exposure::host);
    fields.add(memory_header{static_cast<std::uint32_t>(described.size()), all.back()});
    if (is_exposed) fields.add_values(std::span<const described_memory>(described));
  }
  description = fields.take();
  return all;
}

// Returns the address of the peer's memory in this process, or null if it cannot be mapped.
std::byte* direct_peers::mapped(direct_peer& peer, const described_memory& described,
                                exposure where) {
  const auto offset = static_cast<std::ptrdiff_t>(described.offset);
  if (ranks_.is_one_process() || described.memory.address == 0)
    return reinterpret_cast<std::byte*>(described.offset);
  auto mapping = access_.mappings().map(described.memory);
  if (mapping.data == nullptr) return nullptr;
  if (where == exposure::device) {
    auto memory =
        installed_driver()->open_memory(*device_, value_at<device_handle>(mapping.data + offset));
    if (memory != nullptr) peer.mappings.push_back(memory);
    return memory.get();
  }
  peer.mappings.push_back(std::move(mapping.owner));
  return mapping.data + offset;
}

void direct_peers::rebind(const rank_memories& memories, std::span<const std::size_t> elements) {
  std::vector<std::byte> descriptions;
  const auto exposed = describe_memories(memories, elements, descriptions);
  for (std::size_t m = 0; m < exposed.size(); ++m)
    if (exposed_[m] != exposure::none && exposed[m] == exposure::none)
      fail(errc::usage,
           "a plan on rank {} is bound to memory that its neighbours cannot read, but it was made "
           "for memory that they can read: use memory of longshore::shared_allocator for both",
           ranks_.rank());
  if (local_.empty()) return;
  write_board(descriptions);
  ++binding_;
}

void direct_peers::write_board(std::span<const std::byte> descriptions) {
  std::copy(descriptions.begin(), descriptions.end(), line(event_lines_));
}

bool direct_peers::follow(direct_peer& peer, std::size_t round, std::uint64_t& known) {
  const auto binding = peer.signals_from_peer[round].binding.load(std::memory_order_acquire);
  if (binding == peer.binding) [[likely]] {
    if (peer.is_unmapped) [[unlikely]]
      throw_for_unmapped(peer.rank);
    return std::exchange(known, binding) != binding;
  }
  peer.binding = binding;
  peer.is_unmapped = false;
  auto old = std::move(peer.mappings);  // the signals of the peer stay mapped
  peer.mappings = {old.begin(), old.begin() + static_cast<std::ptrdiff_t>(peer.kept_mappings)};
  const std::byte* next = peer.board;
  const auto take = [&]<class T>(T& value) {
    std::memcpy(&value, next, sizeof(T));
    next += sizeof(T);
  };
  for (std::size_t m = 0; m < peer.memories.size(); ++m) {
    memory_header header;
    take(header);
    for (auto& field : peer.memories[m]) {
      described_memory described;
      take(described);
      if (header.where == exposure::none || !peer.readable[m]) continue;
      field.data = mapped(peer, described, header.where);
      field.stride_bytes = static_cast<std::ptrdiff_t>(described.stride_bytes);
      if (field.data == nullptr && described.memory.address != 0) peer.is_unmapped = true;
    }
  }
  if (peer.is_unmapped) throw_for_unmapped(peer.rank);
  return std::exchange(known, binding) != binding;
}

// Until confirm(), a peer whose signals are mapped is assumed to map all that this rank exposes.
void direct_peers::map_memories(direct_peer& peer, handshake_reader& reader) {
  const auto known = access_.reach().find(peer.rank);
  const bool is_known = known != access_.reach().end(), is_reached = !is_known || known->second;
  const auto header = reader.take<description_header>();
  const bool is_one_process = ranks_.is_one_process();
  bool are_all_mapped = true;
  if (is_reached) {
    peer.signals_to_peer =
        reinterpret_cast<direct_signals*>(mapped(peer, header.signals, exposure::host));
    peer.board = mapped(peer, header.board, exposure::host);
    const bool are_described = is_one_process || header.signals.memory.address != 0;
    are_all_mapped = are_described && peer.signals_to_peer != nullptr;
    if (!is_known) peer.has_signals = are_all_mapped;
    peer.are_signals_unmapped = is_known && !are_all_mapped;
  }
  peer.kept_mappings = peer.mappings.size();
  if (header.shares_events != 0 && !events_.empty() && peer.board != nullptr) open_events(peer);
  peer.readable.clear();
  for (std::uint64_t m = 0; m < header.memories; ++m) {
    const auto [fields, where] = reader.take<memory_header>();
    auto& memory = peer.memories.emplace_back();
    const bool is_exposed = where != exposure::none;
    bool is_readable =
        is_exposed && is_reached && (where != exposure::device || !peer.events.empty());
    for (std::uint32_t f = 0; is_exposed && f < fields; ++f) {
      const auto described = reader.take<described_memory>();
      std::byte* data = nullptr;
      if (is_readable) {
        data = mapped(peer, described, where);
        is_readable = data != nullptr || described.memory.address == 0;
      }
      memory.push_back({data, static_cast<std::ptrdiff_t>(described.stride_bytes)});
    }
    peer.exposed.push_back(where);
    peer.readable.push_back(is_readable);
    if (where == exposure::device) continue;  // confirm() follows
    are_all_mapped = are_all_mapped && is_readable == is_exposed;
    // The peer expects this rank to read all that it exposes.
    if (is_known && is_reached) peer.readable.back() = is_exposed;
  }
  if (is_known && is_reached && !are_all_mapped) peer.is_unmapped = true;
}

void direct_peers::check_mapped() const {
  for (const auto& peer : peers_)
    if (peer.are_signals_unmapped) [[unlikely]]
      throw_for_unmapped(peer.rank);
}

void direct_peers::throw_for_unmapped(int rank) const {
  fail(
      errc::out_of_memory,
      "rank {} cannot map memory of rank {}: a process has too many mappings or open files, or the "
      "memory was freed",
      ranks_.rank(), rank);
}

direct_peer* direct_peers::find(int rank) {
  const auto peer = std::lower_bound(peers_.begin(), peers_.end(), rank,
                                     [](const direct_peer& p, int r) { return p.rank < r; });
  return peer == peers_.end() || peer->rank != rank || !peer->has_signals ? nullptr : &*peer;
}

}  // namespace longshore::detail
