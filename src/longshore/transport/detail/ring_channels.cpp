// Lays out rings of slots in shared memory, and sends and receives through them. A sender writes
// where its rings are into a directory, in which the receivers find them.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/channel_slots.hpp>
#include <longshore/transport/detail/ring_channels.hpp>

#include <algorithm>
#include <cassert>
#include <map>

namespace longshore::detail {
namespace {

// Fewer rings than this fit a near cache, even if the words of each ring have their own lines.
constexpr std::size_t min_packed_rings = 32;

// The reported size if the real size would overflow: more than any machine has, and small enough to
// be added and reduced.
constexpr std::size_t max_bytes = std::size_t{1} << 62;

// The directory at the start of a rank's part lists its rings, in the order of its `to` ends.
struct directory_entry {
  std::int64_t peer;
  std::uint64_t slot_bytes, slots;
  ring_layout::offsets at;
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

// Bytes of the sender's words: the number of messages, and the length of each slot.
std::size_t words_bytes(const channel_end& end) {
  return (1 + static_cast<std::size_t>(end.slots)) * sizeof(std::uint64_t);
}

ring_memory memory_at(std::byte* part, const ring_layout::offsets& at) {
  return {.consumed = reinterpret_cast<std::atomic<std::uint64_t>*>(part + at.consumed),
          .produced = reinterpret_cast<std::atomic<std::uint64_t>*>(part + at.produced),
          .length_bytes = reinterpret_cast<std::uint64_t*>(part + at.produced) + 1,
          .slots = part + at.slots};
}

}  // namespace

// The words of all rings come before the slots. So opening channels touches few pages, and the pages
// of a ring's slots are first touched by its first messages.
ring_layout::ring_layout(std::size_t first_offset, std::span<const channel_end> to,
                         ring_packing packing)
    : alignment_(packing == ring_packing::spread ? interference_bytes : sizeof(std::uint64_t)),
      consumed_(first_offset) {
  produced_ = slots_ = round_up(consumed_ + to.size() * alignment_, interference_bytes);
  for (const auto& end : to) slots_ += round_up(words_bytes(end), alignment_);
  slots_ = round_up(slots_, interference_bytes);
}

ring_layout::offsets ring_layout::next(const channel_end& end) {
  const offsets placed{consumed_, produced_, slots_};
  consumed_ += alignment_;
  produced_ += round_up(words_bytes(end), alignment_);
  slots_ = round_up(
      slots_ + static_cast<std::size_t>(end.slots) * round_up(end.slot_bytes, cache_line_bytes),
      alignment_);
  return placed;
}

std::byte* ring_sender::reserve() {
  if (produced_ - consumed_seen_ == slots_) {
    consumed_seen_ = memory_.consumed->load(std::memory_order_acquire);
    if (produced_ - consumed_seen_ == slots_) return nullptr;
  }
  std::byte* const staged = staged_.data();
  return staged != nullptr ? staged : current_slot();
}

void ring_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && produced_ - consumed_seen_ < slots_);
  if (staged_.data() == nullptr)
    staged_.wrote_directly(bytes);
  else if (staged_.copy_to(current_slot(), bytes))
    streamed_bytes_ += bytes;
  memory_.length_bytes[slot_] = bytes;
  advance();
  memory_.produced->store(++produced_, std::memory_order_release);
}

std::optional<std::span<const std::byte>> ring_receiver::front() {
  if (consumed_ == produced_seen_) {
    produced_seen_ = memory_.produced->load(std::memory_order_acquire);
    if (consumed_ == produced_seen_) return std::nullopt;
  }
  return std::span<const std::byte>(current_slot(), memory_.length_bytes[slot_]);
}

void ring_receiver::release() {
  assert(consumed_ < produced_seen_);
  advance();
  memory_.consumed->store(++consumed_, std::memory_order_release);
}

ring_packing ring_channels::packing_for(const team& team, std::span<const channel_end> to) {
  return !team.waiting().spin && to.size() >= min_packed_rings ? ring_packing::packed
                                                               : ring_packing::spread;
}

std::size_t ring_channels::needed_bytes(std::span<const channel_end> to, ring_packing packing) {
  ring_layout layout(directory_bytes(to.size()), to, packing);
  for (const auto& end : to) {
    if (end.slot_bytes > max_bytes / static_cast<std::size_t>(end.slots)) return max_bytes;
    layout.next(end);
    if (layout.end_offset() > max_bytes) return max_bytes;
  }
  return round_up(layout.end_offset(), interference_bytes);
}

ring_channels::ring_channels(std::span<const channel_end> to, std::byte* my_part,
                             ring_packing packing) {
  const directory my_directory(my_part);
  *my_directory.count = to.size();
  ring_layout layout(directory_bytes(to.size()), to, packing);
  senders.reserve(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto at = layout.next(to[i]);
    my_directory.entries[i] = {to[i].peer, to[i].slot_bytes,
                               static_cast<std::uint64_t>(to[i].slots), at};
    const ring_memory memory = memory_at(my_part, at);
    memory.consumed->store(0, std::memory_order_relaxed);
    memory.produced->store(0, std::memory_order_relaxed);
    senders.emplace_back(to[i], memory);
  }
}

void ring_channels::connect(std::span<const channel_end> from, int my_rank,
                            const std::function<std::byte*(int)>& part_of) {
  receivers.reserve(from.size());
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
      throw_slot_mismatch(my_rank, index, end,
                          {my_rank, entry->slot_bytes, static_cast<int>(entry->slots)});
    receivers.emplace_back(end, memory_at(peer_part, entry->at));
  }
}

}  // namespace longshore::detail
