// Opens the channels of a rank. Channels within the node are rings in shared memory. For the
// others, each rank publishes a directory of its ends, looks up the other ends in the directories
// of its peers, and connects them.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/local_and_remote_ends.hpp>
#include <longshore/transport/one_sided/channels.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>

namespace longshore::one_sided {
namespace {

// The reported size if the real size would overflow.
constexpr std::size_t max_bytes = std::size_t{1} << 62;

// A rank's part has a directory of its ends of channels between nodes, senders first. Peers look up
// the other ends in this directory.
struct directory_entry {
  std::int64_t peer;
  std::uint64_t slot_bytes, slots, offset;
  std::uint64_t number;  // of a message_channel end, else 0
};
// At the start of every part.
struct directory_header {
  std::uint64_t directory_offset;
  std::uint64_t senders, receivers;
};

std::size_t remote_bytes(std::span<const channel_end> ends) {
  std::size_t bytes = ends.size() * sizeof(directory_entry) + interference_bytes;
  for (const auto& end : ends) {
    if (end.slot_bytes > max_bytes / static_cast<std::size_t>(end.slots) / 2) return max_bytes;
    bytes = std::min(max_bytes, bytes + signal_layout(end.slot_bytes, end.slots).total_bytes);
  }
  return bytes;
}

enum class direction { sends, receives };

// The directories of peers, fetched once per peer. Only entries for this rank are stored, because
// all entries of all peers could be many.
class peer_directories {
 public:
  peer_directories(region& memory, int rank) : memory_(memory), rank_(rank) {}

  // The peer's entry for `own`, which is channel `index` with that peer. The other end has
  // direction `other`. Throws errc::usage if the peer has no such end, or an end with a different
  // size; errc::transport if the two ranks reach each other by different networks.
  const directory_entry& other_end(const directory_entry& own, direction other, int index) {
    const auto peer = static_cast<int>(own.peer);
    const auto& ends = other == direction::sends ? of_peer(peer).senders : of_peer(peer).receivers;
    if (static_cast<std::size_t>(index) >= ends.size())
      fail(errc::usage, "rank {} opens channel {} {} rank {}, which opens no such channel", rank_,
           index, other == direction::sends ? "from" : "to", peer);
    const auto& entry = ends[index];
    if (entry.slot_bytes != own.slot_bytes || entry.slots != own.slots)
      fail(errc::usage,
           "channel {} between ranks {} and {}: one end has {} slots of {} bytes, the other {} of "
           "{}",
           index, rank_, peer, own.slots, own.slot_bytes, entry.slots, entry.slot_bytes);
    if ((entry.number == 0) != (own.number == 0))
      fail(errc::transport,
           "ranks {} and {} reach each other by different networks: choose one for both (UCX_TLS, "
           "UCX_NET_DEVICES)",
           rank_, peer);
    return entry;
  }

 private:
  struct directory {
    std::vector<directory_entry> senders, receivers;
  };

  const directory& of_peer(int peer) {
    const auto [found, is_new] = directories_.try_emplace(peer);
    if (is_new) fetch(peer, found->second);
    return found->second;
  }
  void fetch(int peer, directory& fetched) {
    directory_header header{};
    memory_.get(peer, 0, &header, sizeof header);
    std::vector<directory_entry> entries(header.senders + header.receivers);
    if (!entries.empty())
      memory_.get(peer, header.directory_offset, entries.data(),
                  entries.size() * sizeof(directory_entry));
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].peer == rank_)
        (i < header.senders ? fetched.senders : fetched.receivers).push_back(entries[i]);
  }

  region& memory_;
  int rank_;
  std::map<int, directory> directories_;  // indexed by peer
};

}  // namespace

channels::channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from)
    : team_(team), unwinding_(std::uncaught_exceptions()) {
  const detail::ends_by_locality outgoing = detail::split_by_locality(team.nodes(), to),
                                 incoming = detail::split_by_locality(team.nodes(), from);
  const std::size_t ring_bytes = detail::ring_channels::needed_bytes(outgoing.local);
  const std::size_t rings_offset = interference_bytes;
  memory_ = team.make_region(std::min(max_bytes, rings_offset + std::min(max_bytes, ring_bytes) +
                                                     remote_bytes(outgoing.remote) +
                                                     remote_bytes(incoming.remote)))
                .take();
  try {
    rings_ = std::make_unique<detail::ring_channels>(
        outgoing.local, incoming.local, team.rank(),
        [&](int peer) { return memory_->direct(peer) + rings_offset; },
        [&] { team.checked_barrier({collective::open_channels}); });
    open_remote(outgoing.remote, incoming.remote,
                rings_offset + round_up(ring_bytes, interference_bytes));
    team.checked_barrier({collective::open_channels});
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

// 1. Lay out the memory of all ends. Make the ends that use messages of the library.
// 2. Publish offsets and numbers of the ends in the directory; barrier.
// 3. Look up the other end of each end, and connect the two ends.
void channels::open_remote(std::span<const channel_end> to, std::span<const channel_end> from,
                           std::size_t directory_offset) {
  std::vector<directory_entry> directory;
  std::vector<std::unique_ptr<message_channel_sender>> senders;
  std::vector<std::unique_ptr<message_channel_receiver>> receivers;
  std::size_t offset = round_up(
      directory_offset + (to.size() + from.size()) * sizeof(directory_entry), interference_bytes);
  const auto lay_out = [&](const channel_end& end, const auto& make) {
    const signal_layout layout(end.slot_bytes, end.slots);
    std::byte* const begin = memory_->local() + offset + layout.first_slot;
    std::uint64_t number = 0;
    if (team_.lib().prefers_messages(end.peer))
      number = make(slot_memory{end.slots, begin, layout.slot_stride});
    directory.push_back({.peer = end.peer,
                         .slot_bytes = end.slot_bytes,
                         .slots = static_cast<std::uint64_t>(end.slots),
                         .offset = offset,
                         .number = number});
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
  if (!directory.empty())
    std::memcpy(memory_->local() + directory_offset, directory.data(),
                directory.size() * sizeof(directory_entry));
  team_.checked_barrier({collective::open_channels});

  peer_directories peers(*memory_, team_.rank());
  std::map<int, int> channels_to, channels_from;                 // indexed by peer
  std::map<std::pair<int, int>, signal_sender*> signal_senders;  // indexed by peer and channel
  const auto memory_of = [&](const directory_entry& own, const directory_entry& other) {
    return signal_end(own.slot_bytes, static_cast<int>(own.slots), team_.lib(), team_.credits(),
                      *memory_, own.offset, other.offset);
  };
  auto sender = senders.begin();
  auto receiver = receivers.begin();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto& own = directory[i];
    const int peer = to[i].peer, index = channels_to[peer]++;
    const auto& other = peers.other_end(own, direction::receives, index);
    if (own.number == 0) {
      auto opened = std::make_unique<signal_sender>(to[i], memory_of(own, other));
      signal_senders[{peer, index}] = opened.get();
      remote_senders_.push_back(std::move(opened));
      continue;
    }
    (*sender)->connect(static_cast<std::uint32_t>(other.number));
    remote_senders_.push_back(std::move(*sender++));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto& own = directory[to.size() + i];
    const int peer = from[i].peer, index = channels_from[peer]++;
    const auto& other = peers.other_end(own, direction::sends, index);
    if (own.number == 0) {
      auto opened = std::make_unique<signal_receiver>(from[i], memory_of(own, other));
      // The peer makes the same pairs.
      if (const auto reverse = signal_senders.find({peer, index});
          reverse != signal_senders.end()) {
        reverse->second->pair_with(*opened);
        opened->pair_with(*reverse->second);
      }
      remote_receivers_.push_back(std::move(opened));
      continue;
    }
    (*receiver)->connect(static_cast<std::uint32_t>(other.number));
    remote_receivers_.push_back(std::move(*receiver++));
  }
}

channels::~channels() {
  team_.release(std::move(memory_), std::uncaught_exceptions() > unwinding_);
}

}  // namespace longshore::one_sided
