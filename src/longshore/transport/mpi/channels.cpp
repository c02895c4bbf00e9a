#include <longshore/core/error.hpp>
#include <longshore/transport/detail/split_ends.hpp>
#include <longshore/transport/mpi/channels.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <exception>
#include <map>

namespace longshore::mpi {
namespace {

// Tags of the channels between one pair of ranks, in the order in which both name them.
std::vector<int> tags_of(std::span<const channel_end> ends, int block) {
  std::vector<int> tags;
  std::map<int, int> used;
  for (const auto& end : ends) tags.push_back(block * team::tags_per_block + used[end.peer]++);
  return tags;
}

// Refuses what messages cannot do, before anything is made, and gives the bytes of all buffers.
std::size_t needed_bytes(std::span<const channel_end> ends, int slots) {
  std::size_t bytes = 0;
  std::map<int, int> named;
  for (const auto& end : ends) {
    if (++named[end.peer] > team::tags_per_block)
      fail(errc::unsupported, "more than {} channels to rank {} in one call: open them in several",
           team::tags_per_block, end.peer);
    bytes += message_buffer_bytes(end.slot_bytes, slots);
  }
  return bytes;
}

}  // namespace

channel_ends::channel_ends(team& team, std::span<const channel_end> near_to,
                           std::span<const channel_end> near_from,
                           std::span<const channel_end> far_to,
                           std::span<const channel_end> far_from, int slots) {
  const std::size_t ring_bytes =
      team.agree_on_memory(detail::ring_channels::needed_bytes(near_to, slots),
                           needed_bytes(far_to, slots) + needed_bytes(far_from, slots));
  memory_ = std::make_unique<node_memory>(team.node(), ring_bytes);
  const auto part_of = [&](int peer) { return memory_->part(team.nodes().local_index(peer)); };
  constexpr detail::collective_call call{.what = detail::collective::open_channels};
  rings = std::make_unique<detail::ring_channels>(near_to, near_from, slots, team.rank(), part_of,
                                                  [&] { team.meet(call); });
  try {
    make_messages(team, far_to, far_from, slots);
    team.meet(call);
  } catch (...) {
    // requests are active on them, as in the destructor
    static_cast<void>(new pages(std::move(buffers_)));
    throw;
  }
}

void channel_ends::make_messages(team& team, std::span<const channel_end> to,
                                 std::span<const channel_end> from, int slots) {
  buffers_ = pages(needed_bytes(to, slots) + needed_bytes(from, slots));
  tag_block_ = team.take_tag_block();
  std::byte* next = buffers_.data();
  const auto make = [&](auto& made, std::span<const channel_end> ends, auto&... more) {
    const auto tags = tags_of(ends, tag_block_);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      made.emplace_back(ends[i], slots, next, team.channel_comm(), tags[i], more...);
      next += message_buffer_bytes(ends[i].slot_bytes, slots);
    }
  };
  make(message_receivers, from, awaited);
  make(message_senders, to);
}

void channel_ends::close(team& team) {
  for (waiter wait(team, "the other end of a channel to close");; wait.pause()) {
    bool closed = true;
    for (auto& receiver : message_receivers) closed &= receiver.try_close();
    for (auto& sender : message_senders) closed &= sender.try_close();
    if (closed) break;
  }
  team.meet(
      {.what = detail::collective::
           // nobody unmaps a ring that its reader still looks at, or uses a tag again on which a
       // peer still receives
       free});
  team.give_tag_block_back(tag_block_);
  closed_ = true;
}

channel_ends::~channel_ends() {
  if (closed_) return;
  // The run is being aborted. Requests are still active on these buffers: they must outlive this
  // object.
  static_cast<void>(new pages(std::move(buffers_)));
  static_cast<void>(memory_.release());
}

channels::channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from,
                   int slots)
    : team_(team), unwinding_(std::uncaught_exceptions()) {
  const detail::split_ends outgoing = detail::split(team.nodes(), to),
                           incoming = detail::split(team.nodes(), from);
  ends_ = std::make_unique<channel_ends>(team, outgoing.near, incoming.near, outgoing.far,
                                         incoming.far, slots);
  senders_ = detail::in_order<channel_sender>(
      team.nodes(), to, [next = ends_->rings->senders.begin()]() mutable { return &*next++; },
      [next = ends_->message_senders.begin()]() mutable { return &*next++; });
  receivers_ = detail::in_order<channel_receiver>(
      team.nodes(), from, [next = ends_->rings->receivers.begin()]() mutable { return &*next++; },
      [next = ends_->message_receivers.begin()]() mutable { return &*next++; });
}

channels::~channels() {
  team_.give_back(std::move(ends_), std::uncaught_exceptions() > unwinding_);
}

}  // namespace longshore::mpi
