#include <longshore/halo/detail/mpi/legs.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <algorithm>
#include <set>

namespace longshore::mpi {

legs::legs(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers,
           by_buffer which)
    : round_(std::move(round)),
      comm_(where.comm),
      first_tag_(where.first_tag),
      workers_(workers),
      dog_(dynamic_cast<team&>(grid.ranks()).watchdog()),
      packing_(round_.size()),
      unpacking_(round_.size()) {
  std::size_t buffer_bytes = 0;
  const auto end_of = [&](const detail::halo_message& message, const halo_direction& direction,
                          detail::packed_message& copies, bool arrives) {
    message_end end;
    if (!message.exists()) return end;
    end.rank = message.peer;
    end.tag = first_tag_ + direction.index();
    end.bytes = mpi::count(message.size_bytes(), "a halo message");
    if (which == by_buffer::none || (arrives && which == by_buffer::all_but_incoming)) return end;
    end.data = which == by_buffer::all ? nullptr : message.dense();
    if (end.data == nullptr) {
      copies = detail::packed_message(message);
      buffer_bytes += round_up(message.size_bytes(), cache_line_bytes);
    }
    return end;
  };
  for (std::size_t i = 0; i < round_.size(); ++i) {
    const auto& [direction, out, in] = round_[i];
    const auto other =
        std::find_if(round_.begin(), round_.end(),
                     [&, wanted = direction.opposite()](const detail::halo_leg& leg) {
                       return leg.direction == wanted;
                     });
    opposite_.push_back(static_cast<std::size_t>(other - round_.begin()));
    outgoing_.push_back(end_of(out, direction, packing_[i], false));
    incoming_.push_back(end_of(in, direction, unpacking_[i], true));
    if (!out.exists()) continue;
    ++moved_.messages;
    moved_.payload_bytes += out.size_bytes();
    moved_.wire_bytes += out.size_bytes();
    if (!grid.ranks().nodes().is_local(out.peer)) moved_.offnode_bytes += out.size_bytes();
  }
  check_sizes(grid);
  buffers_ = pages(buffer_bytes);
  std::byte* next = buffers_.data();
  for (auto* const ends : {&outgoing_, &incoming_})
    for (auto& end : *ends) {
      const bool is_elsewhere =
          which == by_buffer::none || (ends == &incoming_ && which == by_buffer::all_but_incoming);
      if (end.data != nullptr || end.rank == MPI_PROC_NULL || is_elsewhere) continue;
      end.data = next;
      next += round_up(static_cast<std::size_t>(end.bytes), cache_line_bytes);
    }
}

std::size_t legs::incoming_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& in : incoming_)
    bytes += round_up(static_cast<std::size_t>(in.bytes), cache_line_bytes);
  return bytes;
}

void legs::place_incoming(std::byte* memory) {
  for (std::size_t i = 0; i < count(); ++i) {
    if (incoming_[i].rank == MPI_PROC_NULL) continue;
    incoming_[i].data = memory;
    unpacking_[i] = detail::packed_message(round_[i].incoming);
    memory += round_up(static_cast<std::size_t>(incoming_[i].bytes), cache_line_bytes);
  }
}

std::span<std::byte> legs::incoming_together() const {
  std::byte *first = nullptr, *last = nullptr;
  std::size_t bytes = 0;
  for (const auto& leg : round_) {
    if (!leg.incoming.exists()) continue;
    std::byte* const begin = leg.incoming.dense();
    if (begin == nullptr) return {};
    bytes += leg.incoming.size_bytes();
    if (first == nullptr || begin < first) first = begin;
    if (last == nullptr || begin + leg.incoming.size_bytes() > last)
      last = begin + leg.incoming.size_bytes();
  }
  if (first == nullptr) return {};
  const auto span = static_cast<std::size_t>(last - first);
  return span == bytes ? std::span(first, span) : std::span<std::byte>{};
}

void legs::leave_incoming() {
  for (std::size_t i = 0; i < count(); ++i)
    if (incoming_[i].rank != MPI_PROC_NULL) incoming_[i].data = round_[i].incoming.dense();
}

std::vector<int> legs::ranks_of(const std::vector<message_end>& ends) {
  std::set<int> ranks;
  for (const auto& end : ends)
    if (end.rank != MPI_PROC_NULL) ranks.insert(end.rank);
  return {ranks.begin(), ranks.end()};
}

// MPI would cut a message that is too long short by an error, and take one that is too short for
// whole.
void legs::check_sizes(const rank_grid& grid) {
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
         "along one dimension need equal "
         "extents along "
         "the others, and the same fields and widths",
         in.rank, sent, grid.ranks().rank(), in.bytes);
  }
}

}  // namespace longshore::mpi
