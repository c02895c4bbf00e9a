// Opens and closes the channels of a rank: rings in shared memory within a node, and MPI messages
// between nodes, where a tag identifies each channel. Buffers outlive all MPI requests on them.
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/detail/channels.hpp>
#include <longshore/transport/waiter.hpp>

#include <exception>
#include <map>

namespace longshore::mpi {
namespace {

// The tags of the channels. The channels from one rank to another have ascending tags, in the order
// in which both ranks list these channels.
std::vector<int> tags_of(std::span<const channel_end> ends, int block) {
  std::vector<int> tags;
  std::map<int, int> used;  // indexed by peer: number of tags
  for (const auto& end : ends) tags.push_back(block * team::tags_per_block + used[end.peer]++);
  return tags;
}

// The bytes of all buffers. Throws errc::unsupported if there are too many channels to one rank.
std::size_t needed_bytes(std::span<const channel_end> ends) {
  std::size_t bytes = 0;
  std::map<int, int> channels_to;
  for (const auto& end : ends) {
    if (++channels_to[end.peer] > team::tags_per_block)
      fail(errc::unsupported, "more than {} channels to rank {} in one call: open them in several",
           team::tags_per_block, end.peer);
    bytes += message_buffer_bytes(end.slot_bytes, end.slots);
  }
  return bytes;
}

}  // namespace

channel_ends::channel_ends(team& team, const detail::ends_by_locality& to,
                           const detail::ends_by_locality& from) {
  const auto packing = detail::ring_channels::packing_for(team, to.local);
  memory_ = team.memory_of_channels().take(
      team, detail::ring_channels::needed_bytes(to.local, packing),
      needed_bytes(to.remote) + needed_bytes(from.remote), [&](std::byte* part) {
        rings = std::make_unique<detail::ring_channels>(to.local, part, packing);
      });
  try {
    open_remote(team, to.remote, from.remote);
    if (team.nodes().node_count() > 1) team.checked_barrier({collective::open_channels});
    rings->connect(from.local, team.rank(), [&](int peer) {
      return team.memory_of_channels().part(memory_, team.nodes().local_index(peer));
    });
  } catch (...) {
    // Leaked, because requests are active on the buffers.
    static_cast<void>(new pages(std::move(buffers_)));
    throw;
  }
}

void channel_ends::open_remote(team& team, std::span<const channel_end> to,
                               std::span<const channel_end> from) {
  buffers_ = pages(needed_bytes(to) + needed_bytes(from));
  tag_block_ = team.take_tag_block();
  std::byte* next = buffers_.data();
  const auto make = [&](auto& opened, std::span<const channel_end> ends, auto&... more) {
    const auto tags = tags_of(ends, tag_block_);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const message_format format(ends[i].slot_bytes, team.eager_bytes_to(ends[i].peer));
      opened.emplace_back(ends[i], format, next, team.channel_comm(), tags[i], more...);
      next += message_buffer_bytes(ends[i].slot_bytes, ends[i].slots);
    }
  };
  make(message_receivers, from, pending);
  make(message_senders, to);
}

void channel_ends::close(team& team) {
  for (waiter wait(team, "the other end of a channel to close");; wait.pause()) {
    bool closed = true;
    for (auto& receiver : message_receivers) closed &= receiver.try_close();
    for (auto& sender : message_senders) closed &= sender.try_close();
    if (closed) break;
  }
  // After this barrier no rank reads a ring of this set, or receives with its tags.
  team.checked_barrier({collective::free});
  team.memory_of_channels().give_back(memory_);
  team.release_tag_block(tag_block_);
  closed_ = true;
}

channel_ends::~channel_ends() {
  if (closed_) return;
  // The run is being aborted. The buffers are leaked, because requests are still active on them.
  static_cast<void>(new pages(std::move(buffers_)));
}

channels::channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from)
    : team_(team), unwinding_(std::uncaught_exceptions()) {
  const auto is_local = [&](int peer) { return team.nodes().is_local(peer); };
  ends_ = std::make_unique<channel_ends>(team, detail::split(to, is_local),
                                         detail::split(from, is_local));
  senders_ = detail::merge_ends<channel_sender>(
      to, is_local, [next = ends_->rings->senders.begin()]() mutable { return &*next++; },
      [next = ends_->message_senders.begin()]() mutable { return &*next++; });
  receivers_ = detail::merge_ends<channel_receiver>(
      from, is_local, [next = ends_->rings->receivers.begin()]() mutable { return &*next++; },
      [next = ends_->message_receivers.begin()]() mutable { return &*next++; });
}

channels::~channels() {
  if (lifetime_of_team_.reports_end("a set of channels"))
    static_cast<void>(ends_.release());
  else
    team_.release(std::move(ends_), std::uncaught_exceptions() > unwinding_);
}

}  // namespace longshore::mpi
