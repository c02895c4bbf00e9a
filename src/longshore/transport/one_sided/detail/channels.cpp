// Opens the channels of a rank. Channels within the node are rings in shared memory. For other
// channels, each rank publishes a directory of its ends. It looks up the other ends in the
// directories of its peers, and connects them.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/channel_slots.hpp>
#include <longshore/transport/detail/local_and_remote_ends.hpp>
#include <longshore/transport/one_sided/detail/channels.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>

namespace longshore::one_sided {
namespace {

// The reported size if the real size would overflow.
constexpr std::size_t max_bytes = std::size_t{1} << 62;

// Each rank's part has a directory of its ends that are not rings. Peers look up the other ends of
// their channels there. The order is by node of the peer, then senders before receivers, then as
// the rank gave the ends.
struct directory_entry {
  std::int64_t peer;
  std::uint64_t slot_bytes, slots, offset;
  std::uint64_t number;  // of a message_channel end, else 0
};
// Every part begins with one range for each node, and one more. The range of a node has the offsets
// at which the entries for ranks of this node begin. These entries end where those of the next node
// begin.
struct directory_range {
  std::uint64_t senders, receivers;
};

std::size_t ranges_bytes(const node_map& nodes) {
  return round_up((static_cast<std::size_t>(nodes.node_count()) + 1) * sizeof(directory_range),
                  interference_bytes);
}

enum class direction { sends, receives };

std::size_t remote_bytes(std::span<const channel_end> ends, direction all, const library& lib) {
  std::size_t bytes = ends.size() * sizeof(directory_entry) + interference_bytes;
  for (const auto& end : ends) {
    if (end.slot_bytes > max_bytes / static_cast<std::size_t>(end.slots) / 2) return max_bytes;
    bytes = std::min(max_bytes, bytes + lib.end_bytes(end, all == direction::sends));
  }
  return bytes;
}

// Writes the directory at `offset` of this rank's part, which begins at `part`.
void publish(std::byte* part, std::size_t offset, const node_map& nodes,
             std::span<const directory_entry> senders, std::span<const directory_entry> receivers) {
  // For each node, its entries in the order of the directory.
  std::vector<std::vector<const directory_entry*>> of_node(
      static_cast<std::size_t>(nodes.node_count()));
  std::vector<directory_range> ranges(of_node.size() + 1);
  const auto node_of = [&](const directory_entry& end) {
    return nodes.node_of(static_cast<int>(end.peer));
  };
  for (const auto& end : senders) of_node[node_of(end)].push_back(&end);
  for (std::size_t node = 0; node < of_node.size(); ++node)
    ranges[node].receivers = of_node[node].size();  // for now, the number of senders
  for (const auto& end : receivers) of_node[node_of(end)].push_back(&end);
  for (std::size_t node = 0; node < of_node.size(); ++node) {
    ranges[node].senders = offset;
    ranges[node].receivers = offset + ranges[node].receivers * sizeof(directory_entry);
    for (const auto* const end : of_node[node]) {
      std::memcpy(part + offset, end, sizeof *end);
      offset += sizeof *end;
    }
  }
  ranges.back().senders = offset;
  std::memcpy(part, ranges.data(), ranges.size() * sizeof(directory_range));
}

// The entries for this rank in the directories of peers.
class peer_directories {
 public:
  // `own` is the directory of this rank.
  peer_directories(region& memory, library& lib, const node_map& nodes,
                   std::span<const directory_entry> own)
      : rank_(lib.rank()) {
    for (const auto& end : own) directories_.try_emplace(static_cast<int>(end.peer));
    // Limits the memory, because entries for other ranks of this node arrive, too.
    constexpr std::size_t peers_at_once = 64;
    std::vector<fetched_entries> fetched;
    for (auto& [peer, kept] : directories_) {
      if (nodes.is_local(peer)) {
        read(memory.direct(peer), nodes.my_node(), kept);
        continue;
      }
      fetched.push_back({peer, &kept});
      if (fetched.size() == peers_at_once) fetch(memory, lib, nodes, fetched);
    }
    fetch(memory, lib, nodes, fetched);
  }

  // The peer's entry for `own`, which is channel `index` with that peer. The other end has
  // direction `other`. Throws errc::usage if the peer has no such end, or an end with a different
  // size; errc::transport if the two ranks reach each other by different networks.
  const directory_entry& other_end(const directory_entry& own, direction other, int index) const {
    const auto peer = static_cast<int>(own.peer);
    const auto& found = directories_.at(peer);
    const auto& ends = other == direction::sends ? found.senders : found.receivers;
    if (static_cast<std::size_t>(index) >= ends.size())
      fail(errc::usage, "rank {} opens channel {} {} rank {}, which opens no such channel", rank_,
           index, other == direction::sends ? "from" : "to", peer);
    const auto& entry = ends[index];
    if (entry.slot_bytes != own.slot_bytes || entry.slots != own.slots)
      detail::throw_slot_mismatch(rank_, index, {peer, own.slot_bytes, static_cast<int>(own.slots)},
                                  {rank_, entry.slot_bytes, static_cast<int>(entry.slots)});
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
  struct fetched_entries {
    int peer;
    directory* kept;
    std::array<directory_range, 2> ranges{};
    std::vector<directory_entry> entries{};
  };

  // Gets the ranges from all peers at the same time, and then the entries from all peers.
  void fetch(region& memory, library& lib, const node_map& nodes,
             std::vector<fetched_entries>& fetched) const {
    for (auto& [peer, kept, ranges, entries] : fetched)
      memory.get_start(peer, static_cast<std::size_t>(nodes.my_node()) * sizeof(directory_range),
                       ranges.data(), sizeof ranges);
    lib.quiet();
    for (auto& [peer, kept, ranges, entries] : fetched) {
      const std::size_t begin = ranges[0].senders, bytes = ranges[1].senders - begin;
      entries.resize(bytes / sizeof(directory_entry));
      if (bytes > 0) memory.get_start(peer, begin, entries.data(), bytes);
    }
    lib.quiet();
    for (auto& [peer, kept, ranges, entries] : fetched) {
      keep_own(ranges[0], entries, *kept);
    }
    fetched.clear();
  }
  // Like fetch(), from one part in shared memory.
  void read(const std::byte* part, int node, directory& kept) const {
    const auto* const ranges = reinterpret_cast<const directory_range*>(part) + node;
    const auto* const entries = reinterpret_cast<const directory_entry*>(part + ranges[0].senders);
    const std::size_t bytes = ranges[1].senders - ranges[0].senders;
    keep_own(ranges[0], std::span(entries, bytes / sizeof(directory_entry)), kept);
  }
  void keep_own(const directory_range& range, std::span<const directory_entry> entries,
                directory& kept) const {
    const std::size_t senders = (range.receivers - range.senders) / sizeof(directory_entry);
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].peer == rank_)
        (i < senders ? kept.senders : kept.receivers).push_back(entries[i]);
  }

  int rank_;
  std::map<int, directory> directories_;  // indexed by peer
};

}  // namespace

channels::channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from)
    : team_(team), unwinding_(std::uncaught_exceptions()) {
  library& lib = team.lib();
  const auto is_ring = [&](int peer) {
    return team.nodes().is_local(peer) && !lib.makes_channels(peer, true);
  };
  const detail::ends_by_locality outgoing = detail::split(to, is_ring),
                                 incoming = detail::split(from, is_ring);
  const auto packing = detail::ring_channels::packing_for(team, outgoing.local);
  const std::size_t ring_bytes = detail::ring_channels::needed_bytes(outgoing.local, packing);
  const std::size_t rings_offset = ranges_bytes(team.nodes());
  const std::size_t needed_bytes = rings_offset + std::min(max_bytes, ring_bytes) +
                                   remote_bytes(outgoing.remote, direction::sends, lib) +
                                   remote_bytes(incoming.remote, direction::receives, lib);
  memory_ = team.make_region(std::min(max_bytes, needed_bytes), lib.later_bytes(to, from)).take();
  try {
    const auto part_of = [&](int peer) { return memory_->direct(peer) + rings_offset; };
    rings_ = std::make_unique<detail::ring_channels>(outgoing.local, part_of(team.rank()), packing);
    team.checked_barrier({collective::open_channels});
    rings_->connect(incoming.local, team.rank(), part_of);
    const std::size_t directory_offset = rings_offset + round_up(ring_bytes, interference_bytes);
    open_remote(outgoing.remote, incoming.remote, directory_offset);
    team.checked_barrier({collective::open_channels});
    memory_->discard(0, rings_offset);
    memory_->discard(directory_offset,
                     (outgoing.remote.size() + incoming.remote.size()) * sizeof(directory_entry));
  } catch (...) {
    team.release(std::move(memory_), true);
    throw;
  }
  senders_ = detail::merge_ends<channel_sender>(
      to, is_ring, [next = rings_->senders.begin()]() mutable { return &*next++; },
      [next = remote_senders_.begin()]() mutable { return (next++)->get(); });
  receivers_ = detail::merge_ends<channel_receiver>(
      from, is_ring, [next = rings_->receivers.begin()]() mutable { return &*next++; },
      [next = remote_receivers_.begin()]() mutable { return (next++)->get(); });
  quiet_ = lib.quiet(receivers_);
}

// 1. Lay out the memory of all ends of this rank. Make the ends that use messages of the library.
// 2. Publish the offset and the number of each channel end in the directory. Then call a barrier.
// 3. For each end of this rank, look up the matching end of the peer, and connect the two.
void channels::open_remote(std::span<const channel_end> to, std::span<const channel_end> from,
                           std::size_t directory_offset) {
  library& lib = team_.lib();
  std::vector<directory_entry> directory;
  std::vector<std::unique_ptr<message_channel_sender>> senders;
  std::vector<std::unique_ptr<message_channel_receiver>> receivers;
  std::size_t offset = round_up(
      directory_offset + (to.size() + from.size()) * sizeof(directory_entry), interference_bytes);
  const auto lay_out = [&](const channel_end& end, direction side, const auto& make) {
    std::uint64_t number = 0;
    if (lib.makes_channels(end.peer, team_.nodes().is_local(end.peer))) number = make(end);
    directory.push_back({.peer = end.peer,
                         .slot_bytes = end.slot_bytes,
                         .slots = static_cast<std::uint64_t>(end.slots),
                         .offset = offset,
                         .number = number});
    offset += lib.end_bytes(end, side == direction::sends);
  };
  for (const auto& end : to)
    lay_out(end, direction::sends, [&](const channel_end& made) {
      return senders.emplace_back(lib.make_sender(made, *memory_, offset))->number();
    });
  for (const auto& end : from)
    lay_out(end, direction::receives, [&](const channel_end& made) {
      return receivers.emplace_back(lib.make_receiver(made, *memory_, offset))->number();
    });
  publish(memory_->local(), directory_offset, team_.nodes(), std::span(directory).first(to.size()),
          std::span(directory).subspan(to.size()));
  team_.checked_barrier({collective::open_channels});

  const peer_directories peers(*memory_, lib, team_.nodes(), directory);
  std::map<int, int> channels_to, channels_from;  // indexed by peer
  // Indexed by peer and channel.
  std::map<std::pair<int, int>, signal_sender*> signal_senders;
  std::map<std::pair<int, int>, message_channel_sender*> message_senders;
  const auto memory_of = [&](const directory_entry& own, const directory_entry& other) {
    return signal_end(own.slot_bytes, static_cast<int>(own.slots), lib, *memory_, own.offset,
                      other.offset);
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
    message_senders[{peer, index}] = sender->get();
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
    if (const auto reverse = message_senders.find({peer, index}); reverse != message_senders.end())
      (*receiver)->pair_with(*reverse->second);
    remote_receivers_.push_back(std::move(*receiver++));
  }
}

channels::~channels() {
  if (lifetime_of_team_.reports_end("a set of channels")) {
    static_cast<void>(memory_.release());
    static_cast<void>(rings_.release());
    static_cast<void>(quiet_.release());
    for (auto& sender : remote_senders_) static_cast<void>(sender.release());
    for (auto& receiver : remote_receivers_) static_cast<void>(receiver.release());
    return;
  }
  quiet_.reset();  // it uses the memory
  team_.release(std::move(memory_), std::uncaught_exceptions() > unwinding_);
}

}  // namespace longshore::one_sided
