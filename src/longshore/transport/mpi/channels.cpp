#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/channels.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <exception>
#include <map>

namespace longshore::mpi {
namespace {

struct split_ends {
  std::vector<channel_end> near, far;
};

split_ends split(const longshore::team& team, std::span<const channel_end> ends) {
  split_ends parts;
  for (const auto& end : ends) (team.nodes().is_local(end.peer) ? parts.near : parts.far).push_back(end);
  return parts;
}

// Tags of the channels between one pair of ranks, in the order in which both name them.
class tag_counter {
 public:
  explicit tag_counter(int block) : first_(block * team::tags_per_block) {}
  int next(int peer) {
    const int nth = used_[peer]++;
    if (nth == team::tags_per_block)
      fail(errc::unsupported, "more than {} channels to rank {} in one call: open them in several", team::tags_per_block, peer);
    return first_ + nth;
  }

 private:
  int first_;
  std::map<int, int> used_;
};

}  // namespace

channels::channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from, int slots)
    : team_(team), tag_block_(team.take_tag_block()), unwinding_(std::uncaught_exceptions()) {
  const split_ends outgoing = split(team, to), incoming = split(team, from);
  make_rings(outgoing.near, incoming.near, slots);
  make_messages(outgoing.far, incoming.far, slots);
  // Back into the caller's order.
  auto near_sender = rings_->senders.begin();
  auto far_sender = message_senders_.begin();
  for (const auto& end : to)
    senders_.push_back(team.nodes().is_local(end.peer) ? static_cast<channel_sender*>(&*near_sender++) : &*far_sender++);
  auto near_receiver = rings_->receivers.begin();
  auto far_receiver = message_receivers_.begin();
  for (const auto& end : from)
    receivers_.push_back(team.nodes().is_local(end.peer) ? static_cast<channel_receiver*>(&*near_receiver++) : &*far_receiver++);
  team.barrier();
}

void channels::make_rings(std::span<const channel_end> to, std::span<const channel_end> from, int slots) {
  const auto& nodes = team_.nodes();
  const std::size_t bytes = team_.allreduce_value(ring_channels::needed_bytes(to, slots), reduction::max);
  memory_ = std::make_unique<node_memory>(team_.node(), bytes);
  rings_ = std::make_unique<ring_channels>(
      to, from, slots, team_.rank(), [&](int peer) { return memory_->part(nodes.local_index(peer)); }, [&] { team_.barrier(); });
}

void channels::make_messages(std::span<const channel_end> to, std::span<const channel_end> from, int slots) {
  std::size_t bytes = 0;
  for (const auto ends : {to, from})
    for (const auto& end : ends) bytes += message_buffer_bytes(end.slot_bytes, slots);
  buffers_ = pages(bytes);
  std::byte* next = buffers_.data();
  const auto take = [&](const channel_end& end) {
    std::byte* const buffer = next;
    next += message_buffer_bytes(end.slot_bytes, slots);
    return buffer;
  };
  tag_counter outgoing(tag_block_), incoming(tag_block_);
  for (const auto& end : from)
    message_receivers_.emplace_back(end, slots, take(end), team_.channel_comm(), incoming.next(end.peer));
  for (const auto& end : to) message_senders_.emplace_back(end, slots, take(end), team_.channel_comm(), outgoing.next(end.peer));
}

void channels::close() {
  for (waiter wait(team_, "the other end of a channel to close");; wait.pause()) {
    bool closed = true;
    for (auto& receiver : message_receivers_) closed &= receiver.try_close();
    for (auto& sender : message_senders_) closed &= sender.try_close();
    if (closed) return;
  }
}

channels::~channels() {
  if (std::uncaught_exceptions() > unwinding_) {
    // The run is being aborted. Requests are still active on these buffers: they must outlive this object.
    static_cast<void>(new pages(std::move(buffers_)));
    static_cast<void>(memory_.release());
    return;
  }
  try {
    close();
    team_.barrier();  // nobody unmaps a ring that its reader still looks at
    team_.give_tag_block_back(tag_block_);
  } catch (const error& e) {
    team_.end_run(e);
  }
}

}  // namespace longshore::mpi
