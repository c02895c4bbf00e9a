// Lays out rings of slots in shared memory, and sends and receives through them. A sender writes
// where its rings are into a directory, in which the receivers find them.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/ring_channels.hpp>

#include <algorithm>
#include <cassert>
#include <map>

namespace longshore::detail {
namespace {

// The reported size if the real size would overflow: more than any machine has, and small enough to
// be added and reduced.
constexpr std::size_t max_bytes = std::size_t{1} << 62;

// The directory at the start of a rank's part lists its rings, in the order of its `to` ends.
struct directory_entry {
  std::int64_t peer;
  std::uint64_t slot_bytes, slots, offset;
};

std::size_t directory_bytes(std::size_t entries) {
  return round_up(sizeof(std::uint64_t) + entries * sizeof(directory_entry), interference_bytes);
}

struct directory {
  explicit directory(std::byte* memory)
      : count(reinterpret_cast<std::uint64_t*>(memory)),
        entries(reinterpret_cast<directory_entry*>(memory + sizeof(std::uint64_t))) {}
  std::uint64_t* count;
  directory_entry* entries;
};

// Ring number `index` from a sender to `receiver`; null if there are fewer.
const directory_entry* find_ring(const directory& of_sender, int receiver, int index) {
  for (std::uint64_t i = 0; i < *of_sender.count; ++i)
    if (of_sender.entries[i].peer == receiver) {
      if (index == 0) return &of_sender.entries[i];
      --index;
    }
  return nullptr;
}

}  // namespace

ring_layout::ring_layout(std::size_t slot_bytes, int slots)
    : slot_stride(round_up(slot_bytes, cache_line_bytes)),
      first_slot(round_up(offsetof(ring_header, length_bytes) + slots * sizeof(std::uint64_t),
                          interference_bytes)),
      total_bytes(round_up(first_slot + slots * slot_stride, interference_bytes)) {}

ring_end::ring_end(std::size_t slot_bytes, int slots, std::byte* ring)
    : header_(reinterpret_cast<ring_header*>(ring)), slots_(slots) {
  const ring_layout layout(slot_bytes, slots);
  slots_begin_ = ring + layout.first_slot;
  stride_ = layout.slot_stride;
}

std::byte* ring_sender::reserve() {
  if (produced_ - consumed_seen_ == slots_) {
    consumed_seen_ = header_->consumed.load(std::memory_order_acquire);
    if (produced_ - consumed_seen_ == slots_) return nullptr;
  }
  return current_slot();
}

void ring_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && produced_ - consumed_seen_ < slots_);
  header_->length_bytes[slot_] = bytes;
  advance();
  header_->produced.store(++produced_, std::memory_order_release);
}

std::optional<std::span<const std::byte>> ring_receiver::front() {
  if (consumed_ == produced_seen_) {
    produced_seen_ = header_->produced.load(std::memory_order_acquire);
    if (consumed_ == produced_seen_) return std::nullopt;
  }
  return std::span<const std::byte>(current_slot(), header_->length_bytes[slot_]);
}

void ring_receiver::release() {
  assert(consumed_ < produced_seen_);
  advance();
  header_->consumed.store(++consumed_, std::memory_order_release);
}

std::size_t ring_channels::needed_bytes(std::span<const channel_end> to) {
  std::size_t bytes = directory_bytes(to.size());
  for (const auto& end : to) {
    if (end.slot_bytes > max_bytes / static_cast<std::size_t>(end.slots)) return max_bytes;
    bytes = std::min(max_bytes, bytes + ring_layout(end.slot_bytes, end.slots).total_bytes);
  }
  return bytes;
}

ring_channels::ring_channels(std::span<const channel_end> to, std::span<const channel_end> from,
                             int my_rank, const std::function<std::byte*(int)>& part_of,
                             const std::function<void()>& barrier) {
  std::byte* const my_part = part_of(my_rank);
  const directory my_directory(my_part);
  *my_directory.count = to.size();
  std::size_t offset = directory_bytes(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    my_directory.entries[i] = {to[i].peer, to[i].slot_bytes,
                               static_cast<std::uint64_t>(to[i].slots), offset};
    senders.emplace_back(to[i], my_part + offset);
    offset += ring_layout(to[i].slot_bytes, to[i].slots).total_bytes;
  }
  barrier();
  std::map<int, int> channels_from;  // indexed by peer: number of channels so far
  for (const auto& end : from) {
    const int index = channels_from[end.peer]++;
    std::byte* const peer_part = part_of(end.peer);
    const auto* entry = find_ring(directory(peer_part), my_rank, index);
    if (entry == nullptr)
      fail(errc::usage, "rank {} opens channel {} from rank {}, which opens no such channel to it",
           my_rank, index, end.peer);
    if (entry->slot_bytes != end.slot_bytes ||
        entry->slots != static_cast<std::uint64_t>(end.slots))
      fail(errc::usage,
           "channel {} from rank {} to rank {}: the sender has {} slots of {} bytes, the receiver "
           "{} of {}",
           index, end.peer, my_rank, entry->slots, entry->slot_bytes, end.slots, end.slot_bytes);
    receivers.emplace_back(end, peer_part + entry->offset);
  }
}

}  // namespace longshore::detail
