#include <longshore/halo/detail/mpi/mode_backend.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <algorithm>
#include <set>

namespace longshore::mpi {

mode_backend::mode_backend(const rank_grid& grid, detail::halo_round round,
                           const round_communicator& tags, tasks* workers, buffering which)
    : round_(std::move(round)),
      comm_(tags.comm),
      first_tag_(tags.first_tag),
      workers_(workers),
      dog_(dynamic_cast<team&>(grid.ranks()).watchdog()),
      packing_(round_.size()),
      unpacking_(round_.size()) {
  std::size_t buffer_bytes = 0;
  const auto arguments_of = [&](const detail::halo_message& message,
                                const halo_direction& direction, detail::packed_message& copies,
                                bool arrives) {
    call_arguments call;
    if (!message.exists()) return call;
    call.rank = message.peer;
    call.tag = first_tag_ + direction.index();
    call.bytes = mpi::count(message.size_bytes(), "a halo message");
    if (which == buffering::none || (arrives && which == buffering::strided_outgoing)) return call;
    call.data = which == buffering::all ? nullptr : message.contiguous();
    if (call.data == nullptr) {
      copies = detail::packed_message(message);
      buffer_bytes += round_up(message.size_bytes(), cache_line_bytes);
    }
    return call;
  };
  for (std::size_t i = 0; i < round_.size(); ++i) {
    const auto& [direction, out, in] = round_[i];
    const auto other =
        std::find_if(round_.begin(), round_.end(),
                     [&, wanted = direction.opposite()](const detail::shift_messages& pair) {
                       return pair.direction == wanted;
                     });
    opposite_.push_back(static_cast<std::size_t>(other - round_.begin()));
    outgoing_.push_back(arguments_of(out, direction, packing_[i], false));
    incoming_.push_back(arguments_of(in, direction, unpacking_[i], true));
    if (!out.exists()) continue;
    ++moved_.messages;
    moved_.payload_bytes += out.size_bytes();
    moved_.wire_bytes += out.size_bytes();
    if (!grid.ranks().nodes().is_local(out.peer)) moved_.offnode_bytes += out.size_bytes();
  }
  check_sizes(grid);
  buffers_ = pages(buffer_bytes);
  std::byte* next = buffers_.data();
  for (auto* const calls : {&outgoing_, &incoming_})
    for (auto& call : *calls) {
      const bool is_elsewhere =
          which == buffering::none || (calls == &incoming_ && which == buffering::strided_outgoing);
      if (call.data != nullptr || call.rank == MPI_PROC_NULL || is_elsewhere) continue;
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

// MPI reports a message that is too long as a truncation error, and accepts one that is too short.
// So the sizes are compared here.
void mode_backend::check_sizes(const rank_grid& grid) {
  const auto deadline = guarded();
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& out = outgoing_[i];
    const auto& in = incoming_[i];
    int sent = 0;
    check(MPI_Sendrecv(&out.bytes, 1, MPI_INT, out.rank, out.tag, &sent, 1, MPI_INT, in.rank,
                       in.tag, comm(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    if (in.rank == MPI_PROC_NULL || sent == in.bytes) continue;
    fail(errc::usage,
         "rank {} sends {} bytes of halo to rank {}, which expects {}: blocks that are neighbours "
         "along one dimension need equal extents along the others, and the same fields and widths",
         in.rank, sent, grid.ranks().rank(), in.bytes);
  }
}

}  // namespace longshore::mpi
