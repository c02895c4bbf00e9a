#include <longshore/core/error.hpp>
#include <longshore/transport/one_sided/channels.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>

namespace longshore::one_sided {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 62;  // what sizes that would wrap are said to need

struct split_ends {
  std::vector<channel_end> near, far;
};

split_ends split(const longshore::team& team, std::span<const channel_end> ends) {
  split_ends parts;
  for (const auto& end : ends) (team.nodes().is_local(end.peer) ? parts.near : parts.far).push_back(end);
  return parts;
}

// What a rank writes into its part, so that its peers find their ends: where the ends are, those it sends with first.
struct directory_entry {
  std::int64_t peer;
  std::uint64_t slot_bytes, slots, offset;
};
struct directory_head {
  std::uint64_t far_at;  // where the directory lies; at the start of every part
  std::uint64_t senders, receivers;
};

std::size_t far_bytes(std::span<const channel_end> ends, int slots) {
  std::size_t bytes = ends.size() * sizeof(directory_entry) + interference_bytes;
  for (const auto& end : ends) {
    if (end.slot_bytes > most_bytes / static_cast<std::size_t>(slots) / 2) return most_bytes;
    bytes = std::min(most_bytes, bytes + signal_layout(end.slot_bytes, slots).total_bytes);
  }
  return bytes;
}

// The directory of one peer, fetched once.
struct directory {
  directory(region& memory, int peer) {
    directory_head head{};
    memory.get(peer, 0, &head, sizeof head);
    entries.resize(head.senders + head.receivers);
    senders = head.senders;
    if (!entries.empty()) memory.get(peer, head.far_at, entries.data(), entries.size() * sizeof(directory_entry));
  }
  // The `nth` end towards `rank` among the senders or the receivers.
  [[nodiscard]] const directory_entry* find(bool sender, int rank, int nth) const {
    for (std::size_t i = sender ? 0 : senders; i < (sender ? senders : entries.size()); ++i)
      if (entries[i].peer == rank && nth-- == 0) return &entries[i];
    return nullptr;
  }
  std::vector<directory_entry> entries;
  std::size_t senders = 0;
};

}  // namespace

channels::channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from, int slots)
    : team_(team), unwinding_(std::uncaught_exceptions()) {
  const split_ends outgoing = split(team, to), incoming = split(team, from);
  const std::size_t ring_bytes = ring_channels::needed_bytes(outgoing.near, slots);
  const std::size_t first = interference_bytes;
  memory_ = team.make_region(std::min(
      most_bytes, first + std::min(most_bytes, ring_bytes) + far_bytes(outgoing.far, slots) + far_bytes(incoming.far, slots)));
  try {
    rings_ = std::make_unique<ring_channels>(
        outgoing.near, incoming.near, slots, team.rank(), [&](int peer) { return memory_->reach(peer) + first; },
        [&] { team.barrier(); });
    open_far(outgoing.far, incoming.far, slots, first + round_up(ring_bytes, interference_bytes));
    team.barrier();
  } catch (...) {
    team.give_back(std::move(memory_), true);
    throw;
  }
  // Back into the caller's order.
  auto near_sender = rings_->senders.begin();
  auto far_sender = far_senders_.begin();
  for (const auto& end : to)
    senders_.push_back(team.nodes().is_local(end.peer) ? static_cast<channel_sender*>(&*near_sender++) : &*far_sender++);
  auto near_receiver = rings_->receivers.begin();
  auto far_receiver = far_receivers_.begin();
  for (const auto& end : from)
    receivers_.push_back(team.nodes().is_local(end.peer) ? static_cast<channel_receiver*>(&*near_receiver++) : &*far_receiver++);
}

void channels::open_far(std::span<const channel_end> to, std::span<const channel_end> from, int slots, std::size_t first) {
  std::vector<directory_entry> mine;
  std::size_t offset = round_up(first + (to.size() + from.size()) * sizeof(directory_entry), interference_bytes);
  for (const auto ends : {to, from})
    for (const auto& end : ends) {
      mine.push_back({end.peer, end.slot_bytes, static_cast<std::uint64_t>(slots), offset});
      offset += signal_layout(end.slot_bytes, slots).total_bytes;
    }
  const directory_head head{first, to.size(), from.size()};
  std::memcpy(memory_->local(), &head, sizeof head);
  if (!mine.empty()) std::memcpy(memory_->local() + first, mine.data(), mine.size() * sizeof(directory_entry));
  team_.barrier();

  std::map<int, directory> directories;
  const auto join = [&](const channel_end& end, bool other_sends, int nth) {
    const auto& theirs = directories.try_emplace(end.peer, *memory_, end.peer).first->second;
    const auto* entry = theirs.find(other_sends, team_.rank(), nth);
    if (entry == nullptr)
      fail(errc::usage, "rank {} opens channel {} {} rank {}, which opens no such channel", team_.rank(), nth,
           other_sends ? "from" : "to", end.peer);
    if (entry->slot_bytes != end.slot_bytes || entry->slots != static_cast<std::uint64_t>(slots))
      fail(errc::usage, "channel {} between ranks {} and {}: one has {} slots of {} bytes, the other {} of {}", nth, team_.rank(),
           end.peer, slots, end.slot_bytes, entry->slots, entry->slot_bytes);
    return static_cast<std::size_t>(entry->offset);
  };
  std::map<int, int> named_to, named_from;
  for (std::size_t i = 0; i < to.size(); ++i)
    far_senders_.emplace_back(to[i], slots, team_.lib(), *memory_, mine[i].offset, join(to[i], false, named_to[to[i].peer]++));
  for (std::size_t i = 0; i < from.size(); ++i)
    far_receivers_.emplace_back(from[i], slots, team_.lib(), team_.untold(), *memory_, mine[to.size() + i].offset,
                                join(from[i], true, named_from[from[i].peer]++));
}

channels::~channels() { team_.give_back(std::move(memory_), std::uncaught_exceptions() > unwinding_); }

}  // namespace longshore::one_sided
