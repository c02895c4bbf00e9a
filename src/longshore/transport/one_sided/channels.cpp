#include <longshore/core/error.hpp>
#include <longshore/transport/detail/local_and_remote_ends.hpp>
#include <longshore/transport/one_sided/channels.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>

namespace longshore::one_sided {
namespace {

// the size that is reported if the real one would overflow
constexpr std::size_t most_bytes = std::size_t{1} << 62;

// The directory in a rank's part lists its remote ends, senders first, so that peers find theirs.
struct directory_entry {
  std::int64_t peer;
  std::uint64_t slot_bytes, slots, offset;
  std::uint64_t number;  // of an end that uses messages of the library, else 0
};
// At the start of every part.
struct directory_header {
  std::uint64_t directory_offset;
  std::uint64_t senders, receivers;
};

std::size_t remote_bytes(std::span<const channel_end> ends, int slots) {
  std::size_t bytes = ends.size() * sizeof(directory_entry) + interference_bytes;
  for (const auto& end : ends) {
    if (end.slot_bytes > most_bytes / static_cast<std::size_t>(slots) / 2) return most_bytes;
    bytes = std::min(most_bytes, bytes + signal_layout(end.slot_bytes, slots).total_bytes);
  }
  return bytes;
}

// The entries for `rank` in the directory of a peer, which is fetched once. Entries for other ranks
// are not stored: if all ranks have channels with all, they would be many.
struct peer_directory {
  peer_directory(region& memory, int peer, int rank) {
    directory_header header{};
    memory.get(peer, 0, &header, sizeof header);
    std::vector<directory_entry> entries(header.senders + header.receivers);
    if (!entries.empty())
      memory.get(peer, header.directory_offset, entries.data(),
                 entries.size() * sizeof(directory_entry));
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].peer == rank) (i < header.senders ? senders : receivers).push_back(entries[i]);
  }
  [[nodiscard]] const directory_entry* find(bool sender, int nth) const {
    const auto& ends = sender ? senders : receivers;
    return static_cast<std::size_t>(nth) < ends.size() ? &ends[static_cast<std::size_t>(nth)]
                                                       : nullptr;
  }
  std::vector<directory_entry> senders, receivers;
};

}  // namespace

channels::channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from,
                   int slots)
    : team_(team), unwinding_(std::uncaught_exceptions()) {
  const detail::ends_by_locality outgoing = detail::split_by_locality(team.nodes(), to),
                                 incoming = detail::split_by_locality(team.nodes(), from);
  const std::size_t ring_bytes = detail::ring_channels::needed_bytes(outgoing.local, slots);
  const std::size_t rings_offset = interference_bytes;
  memory_ = team.make_region(std::min(most_bytes, rings_offset + std::min(most_bytes, ring_bytes) +
                                                      remote_bytes(outgoing.remote, slots) +
                                                      remote_bytes(incoming.remote, slots)))
                .take();
  try {
    rings_ = std::make_unique<detail::ring_channels>(
        outgoing.local, incoming.local, slots, team.rank(),
        [&](int peer) { return memory_->direct(peer) + rings_offset; },
        [&] { team.checked_barrier({.kind = detail::collective::open_channels}); });
    open_remote(outgoing.remote, incoming.remote, slots,
                rings_offset + round_up(ring_bytes, interference_bytes));
    team.checked_barrier({.kind = detail::collective::open_channels});
  } catch (...) {
    team.release(std::move(memory_), true);
    throw;
  }
  senders_ = detail::merge_ends<channel_sender>(
      team.nodes(), to, [next = rings_->senders.begin()]() mutable { return &*next++; },
      [next = remote_senders_.begin()]() mutable { return (next++)->get(); });
  receivers_ = detail::merge_ends<channel_receiver>(
      team.nodes(), from, [next = rings_->receivers.begin()]() mutable { return &*next++; },
      [next = remote_receivers_.begin()]() mutable { return (next++)->get(); });
}

// 1. Lay out the memory of all ends, and make those that use messages, which have numbers.
// 2. Publish offsets and numbers in the directory; barrier.
// 3. Look up the other end of each end, and connect both.
void channels::open_remote(std::span<const channel_end> to, std::span<const channel_end> from,
                           int slots, std::size_t directory_offset) {
  std::vector<directory_entry> mine;
  std::vector<std::unique_ptr<message_channel_sender>> senders;
  std::vector<std::unique_ptr<message_channel_receiver>> receivers;
  std::size_t offset = round_up(
      directory_offset + (to.size() + from.size()) * sizeof(directory_entry), interference_bytes);
  const auto lay_out = [&](const channel_end& end, const auto& make) {
    const signal_layout layout(end.slot_bytes, slots);
    std::byte* const begin = memory_->local() + offset + layout.first_slot;
    std::uint64_t number = 0;
    if (team_.lib().prefers_messages(end.peer))
      number = make(slot_memory{slots, begin, layout.slot_stride});
    mine.push_back({end.peer, end.slot_bytes, static_cast<std::uint64_t>(slots), offset, number});
    offset += layout.total_bytes;
  };
  for (const auto& end : to)
    lay_out(end, [&](slot_memory memory) {
      return senders.emplace_back(team_.lib().make_sender(end, memory))->number();
    });
  for (const auto& end : from)
    lay_out(end, [&](slot_memory memory) {
      return receivers.emplace_back(team_.lib().make_receiver(end, memory))->number();
    });
  const directory_header header{directory_offset, to.size(), from.size()};
  std::memcpy(memory_->local(), &header, sizeof header);
  if (!mine.empty())
    std::memcpy(memory_->local() + directory_offset, mine.data(),
                mine.size() * sizeof(directory_entry));
  team_.checked_barrier({.kind = detail::collective::open_channels});

  std::map<int, peer_directory> directories;
  const auto other_end = [&](const directory_entry& own, bool other_sends, int nth) {
    const auto peer = static_cast<int>(own.peer);
    const auto& theirs = directories.try_emplace(peer, *memory_, peer, team_.rank()).first->second;
    const auto* entry = theirs.find(other_sends, nth);
    if (entry == nullptr)
      fail(errc::usage, "rank {} opens channel {} {} rank {}, which opens no such channel",
           team_.rank(), nth, other_sends ? "from" : "to", peer);
    if (entry->slot_bytes != own.slot_bytes || entry->slots != own.slots)
      fail(errc::usage,
           "channel {} between ranks {} and {}: one end has {} slots of {} bytes, the other {} of "
           "{}",
           nth, team_.rank(), peer, slots, own.slot_bytes, entry->slots, entry->slot_bytes);
    if ((entry->number == 0) != (own.number == 0))
      fail(errc::transport,
           "ranks {} and {} reach each other by different networks: choose one for both (UCX_TLS, "
           "UCX_NET_DEVICES)",
           team_.rank(), peer);
    return *entry;
  };
  std::map<int, int> opened_to, opened_from;  // by peer
  // by peer and index among the channels to it
  std::map<std::pair<int, int>, signal_sender*> signal_senders;
  auto sender = senders.begin();
  auto receiver = receivers.begin();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const int peer = to[i].peer, nth = opened_to[peer]++;
    const auto theirs = other_end(mine[i], false, nth);
    if (mine[i].number == 0) {
      auto made = std::make_unique<signal_sender>(to[i], slots, team_.lib(), team_.credits(),
                                                  *memory_, mine[i].offset, theirs.offset);
      signal_senders[{peer, nth}] = made.get();
      remote_senders_.push_back(std::move(made));
      continue;
    }
    (*sender)->connect(static_cast<std::uint32_t>(theirs.number));
    remote_senders_.push_back(std::move(*sender++));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto& own = mine[to.size() + i];
    const int peer = from[i].peer, nth = opened_from[peer]++;
    const auto theirs = other_end(own, true, nth);
    if (own.number == 0) {
      auto made = std::make_unique<signal_receiver>(from[i], slots, team_.lib(), team_.credits(),
                                                    *memory_, own.offset, theirs.offset);
      // the peer makes the same pairs
      if (const auto reverse = signal_senders.find({peer, nth}); reverse != signal_senders.end()) {
        reverse->second->pair_with(*made);
        made->pair_with(*reverse->second);
      }
      remote_receivers_.push_back(std::move(made));
      continue;
    }
    (*receiver)->connect(static_cast<std::uint32_t>(theirs.number));
    remote_receivers_.push_back(std::move(*receiver++));
  }
}

channels::~channels() {
  team_.release(std::move(memory_), std::uncaught_exceptions() > unwinding_);
}

}  // namespace longshore::one_sided
