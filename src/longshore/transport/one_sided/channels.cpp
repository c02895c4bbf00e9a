#include <longshore/core/error.hpp>
#include <longshore/transport/detail/split_ends.hpp>
#include <longshore/transport/one_sided/channels.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>

namespace longshore::one_sided {
namespace {

// what sizes that would wrap are said to need
constexpr std::size_t most_bytes = std::size_t{1} << 62;

// What a rank writes into its part, so that its peers find their ends: where the ends are, those it
// sends with first.
struct directory_entry {
  std::int64_t peer;
  std::uint64_t slot_bytes, slots, offset;
  std::uint64_t number;  // of an end that goes by messages, else 0
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

// What the directory of a peer has for `rank`, fetched once. The rest is not kept: where all have
// channels with all it would be much.
struct directory {
  directory(region& memory, int peer, int rank) {
    directory_head head{};
    memory.get(peer, 0, &head, sizeof head);
    std::vector<directory_entry> entries(head.senders + head.receivers);
    if (!entries.empty())
      memory.get(peer, head.far_at, entries.data(), entries.size() * sizeof(directory_entry));
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].peer == rank) (i < head.senders ? senders : receivers).push_back(entries[i]);
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
  const detail::split_ends outgoing = detail::split(team.nodes(), to),
                           incoming = detail::split(team.nodes(), from);
  const std::size_t ring_bytes = detail::ring_channels::needed_bytes(outgoing.near, slots);
  const std::size_t first = interference_bytes;
  memory_ = team.make_region(std::min(most_bytes, first + std::min(most_bytes, ring_bytes) +
                                                      far_bytes(outgoing.far, slots) +
                                                      far_bytes(incoming.far, slots)))
                .take();
  try {
    rings_ = std::make_unique<detail::ring_channels>(
        outgoing.near, incoming.near, slots, team.rank(),
        [&](int peer) { return memory_->reach(peer) + first; },
        [&] { team.meet({.what = detail::collective::open_channels}); });
    open_far(outgoing.far, incoming.far, slots, first + round_up(ring_bytes, interference_bytes));
    team.meet({.what = detail::collective::open_channels});
  } catch (...) {
    team.give_back(std::move(memory_), true);
    throw;
  }
  senders_ = detail::in_order<channel_sender>(
      team.nodes(), to, [next = rings_->senders.begin()]() mutable { return &*next++; },
      [next = far_senders_.begin()]() mutable { return (next++)->get(); });
  receivers_ = detail::in_order<channel_receiver>(
      team.nodes(), from, [next = rings_->receivers.begin()]() mutable { return &*next++; },
      [next = far_receivers_.begin()]() mutable { return (next++)->get(); });
}

void channels::open_far(std::span<const channel_end> to, std::span<const channel_end> from,
                        int slots, std::size_t first) {
  // The ends that go by messages are made first, since the others must be told their numbers.
  std::vector<directory_entry> mine;
  std::vector<std::unique_ptr<message_channel_sender>> senders;
  std::vector<std::unique_ptr<message_channel_receiver>> receivers;
  std::size_t offset =
      round_up(first + (to.size() + from.size()) * sizeof(directory_entry), interference_bytes);
  const auto place = [&](const channel_end& end, const auto& make) {
    const signal_layout layout(end.slot_bytes, slots);
    std::byte* const begin = memory_->local() + offset + layout.first_slot;
    std::uint64_t number = 0;
    if (team_.lib().prefers_messages(end.peer))
      number = make(slot_memory{slots, begin, layout.slot_stride});
    mine.push_back({end.peer, end.slot_bytes, static_cast<std::uint64_t>(slots), offset, number});
    offset += layout.total_bytes;
  };
  for (const auto& end : to)
    place(end, [&](slot_memory memory) {
      return senders.emplace_back(team_.lib().make_sender(end, memory))->number();
    });
  for (const auto& end : from)
    place(end, [&](slot_memory memory) {
      return receivers.emplace_back(team_.lib().make_receiver(end, memory))->number();
    });
  const directory_head head{first, to.size(), from.size()};
  std::memcpy(memory_->local(), &head, sizeof head);
  if (!mine.empty())
    std::memcpy(memory_->local() + first, mine.data(), mine.size() * sizeof(directory_entry));
  team_.meet({.what = detail::collective::open_channels});

  std::map<int, directory> directories;
  const auto join = [&](const directory_entry& own, bool other_sends, int nth) {
    const auto peer = static_cast<int>(own.peer);
    const auto& theirs = directories.try_emplace(peer, *memory_, peer, team_.rank()).first->second;
    const auto* entry = theirs.find(other_sends, nth);
    if (entry == nullptr)
      fail(errc::usage, "rank {} opens channel {} {} rank {}, which opens no such channel",
           team_.rank(), nth, other_sends ? "from" : "to", peer);
    if (entry->slot_bytes != own.slot_bytes || entry->slots != own.slots)
      fail(errc::usage,
           "channel {} between ranks {} and {}: one has {} slots of {} bytes, the other {} of {}",
           nth, team_.rank(), peer, slots, own.slot_bytes, entry->slots, entry->slot_bytes);
    if ((entry->number == 0) != (own.number == 0))
      fail(errc::transport,
           "ranks {} and {} reach each other by different networks: choose one for both (UCX_TLS, "
           "UCX_NET_DEVICES)",
           team_.rank(), peer);
    return *entry;
  };
  std::map<int, int> named_to, named_from;
  std::map<std::pair<int, int>, signal_sender*> by_signals;  // of a peer, the nth
  auto sender = senders.begin();
  auto receiver = receivers.begin();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const int peer = to[i].peer, nth = named_to[peer]++;
    const auto theirs = join(mine[i], false, nth);
    if (mine[i].number == 0) {
      auto made = std::make_unique<signal_sender>(to[i], slots, team_.lib(), team_.untold(),
                                                  *memory_, mine[i].offset, theirs.offset);
      by_signals[{peer, nth}] = made.get();
      far_senders_.push_back(std::move(made));
      continue;
    }
    (*sender)->connect(static_cast<std::uint32_t>(theirs.number));
    far_senders_.push_back(std::move(*sender++));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto& own = mine[to.size() + i];
    const int peer = from[i].peer, nth = named_from[peer]++;
    const auto theirs = join(own, true, nth);
    if (own.number == 0) {
      auto made = std::make_unique<signal_receiver>(from[i], slots, team_.lib(), team_.untold(),
                                                    *memory_, own.offset, theirs.offset);
      // the other end pairs them alike
      if (const auto back = by_signals.find({peer, nth}); back != by_signals.end()) {
        back->second->join(*made);
        made->join(*back->second);
      }
      far_receivers_.push_back(std::move(made));
      continue;
    }
    (*receiver)->connect(static_cast<std::uint32_t>(theirs.number));
    far_receivers_.push_back(std::move(*receiver++));
  }
}

channels::~channels() {
  team_.give_back(std::move(memory_), std::uncaught_exceptions() > unwinding_);
}

}  // namespace longshore::one_sided
