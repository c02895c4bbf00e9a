// Computes the arguments of the MPI calls for each message, and gives messages that are not
// contiguous a part of one buffer.
#include <longshore/halo/detail/mpi/mode_backend.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <set>

namespace longshore::mpi {
namespace {

// Adds an outgoing message to the traffic of a rank.
void count_message(traffic& moved, const longshore::team& ranks,
                   const detail::halo_message& message) {
  moved.payload_bytes += message.size_bytes();
  moved.wire_bytes += message.size_bytes();
  if (!ranks.nodes().is_local(message.peer)) moved.offnode_bytes += message.size_bytes();
}

}  // namespace

mode_backend::mode_backend(const round_setup& setup, buffering buffered)
    : round_(setup.round),
      comm_(setup.comm),
      first_tag_(setup.first_tag),
      workers_(setup.workers),
      watchdog_(dynamic_cast<team&>(setup.grid.ranks()).watchdog()),
      packing_(round_.size()),
      unpacking_(round_.size()) {
  // First the sizes of all messages are added up. The messages that need the buffer have no address
  // yet: they get it in the loop at the end, when the buffer is allocated. Both loops must agree on
  // which messages need the buffer.
  std::size_t buffer_bytes = 0;
  const auto arguments_of = [&](const detail::halo_message& message,
                                const halo_direction& direction, detail::packed_message& copies,
                                bool is_incoming) {
    call_arguments call;
    if (!message.exists()) return call;
    call.rank = message.peer;
    call.tag = first_tag_ + direction.index();
    call.bytes = mpi::count(message.size_bytes(), "a halo message");
    if (buffered == buffering::none || (is_incoming && buffered == buffering::strided_outgoing))
      return call;
    call.data = buffered == buffering::all ? nullptr : message.contiguous();
    if (call.data == nullptr) {
      copies = detail::packed_message(message);
      buffer_bytes += round_up(message.size_bytes(), cache_line_bytes);
    }
    return call;
  };
  for (std::size_t i = 0; i < round_.size(); ++i) {
    const auto& [direction, out, in] = round_[i];
    const auto opposite = std::find_if(
        round_.begin(), round_.end(),
        [reverse = direction.opposite()](const auto& pair) { return pair.direction == reverse; });
    opposite_.push_back(static_cast<std::size_t>(opposite - round_.begin()));
    outgoing_.push_back(arguments_of(out, direction, packing_[i], false));
    incoming_.push_back(arguments_of(in, direction, unpacking_[i], true));
    if (!out.exists()) continue;
    ++moved_.messages;
    count_message(moved_, setup.grid.ranks(), out);
  }
  buffers_ = pages(buffer_bytes);
  std::byte* next = buffers_.data();
  for (auto* const calls : {&outgoing_, &incoming_})
    for (auto& call : *calls) {
      const bool is_unbuffered = buffered == buffering::none ||
                                 (calls == &incoming_ && buffered == buffering::strided_outgoing);
      if (call.data != nullptr || call.rank == MPI_PROC_NULL || is_unbuffered) continue;
      call.data = next;
      next += round_up(static_cast<std::size_t>(call.bytes), cache_line_bytes);
    }
}

std::size_t mode_backend::incoming_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& in : incoming_)
    bytes += round_up(static_cast<std::size_t>(in.bytes), cache_line_bytes);
  return bytes;
}

void mode_backend::receive_into(std::byte* memory) {
  for (std::size_t i = 0; i < count(); ++i) {
    if (incoming_[i].rank == MPI_PROC_NULL) continue;
    incoming_[i].data = memory;
    unpacking_[i] = detail::packed_message(round_[i].incoming);
    memory += round_up(static_cast<std::size_t>(incoming_[i].bytes), cache_line_bytes);
  }
}

std::span<std::byte> mode_backend::contiguous_incoming() const {
  std::byte *first = nullptr, *last = nullptr;
  std::size_t bytes = 0;
  for (const auto& pair : round_) {
    if (!pair.incoming.exists()) continue;
    std::byte* const begin = pair.incoming.contiguous();
    if (begin == nullptr) return {};
    bytes += pair.incoming.size_bytes();
    if (first == nullptr || begin < first) first = begin;
    if (last == nullptr || begin + pair.incoming.size_bytes() > last)
      last = begin + pair.incoming.size_bytes();
  }
  if (first == nullptr) return {};
  const auto span = static_cast<std::size_t>(last - first);
  return span == bytes ? std::span(first, span) : std::span<std::byte>{};
}

void mode_backend::receive_in_place() {
  for (std::size_t i = 0; i < count(); ++i)
    if (incoming_[i].rank != MPI_PROC_NULL) incoming_[i].data = round_[i].incoming.contiguous();
}

std::vector<int> mode_backend::ranks_of(const std::vector<call_arguments>& messages) {
  std::set<int> ranks;
  for (const auto& message : messages)
    if (message.rank != MPI_PROC_NULL) ranks.insert(message.rank);
  return {ranks.begin(), ranks.end()};
}

}  // namespace longshore::mpi
