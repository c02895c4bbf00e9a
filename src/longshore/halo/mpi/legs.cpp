#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/halo/mpi/legs.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <algorithm>

namespace longshore::mpi {

legs::legs(const rank_grid& grid, halo_round round, const lane& where, tasks* workers, bool packs_all)
    : round_(std::move(round)),
      comm_(where.comm),
      first_tag_(where.first_tag),
      workers_(workers),
      dog_(dynamic_cast<team&>(grid.ranks()).dog()),
      packing_(round_.size()),
      unpacking_(round_.size()) {
  std::size_t buffer_bytes = 0;
  const auto end_of = [&](const halo_message& message, const halo_direction& direction, packed_message& copies) {
    message_end end;
    if (!message.exists()) return end;
    end.rank = message.peer;
    end.tag = first_tag_ + direction.index();
    end.bytes = mpi::count(message.size_bytes(), "a halo message");
    end.data = packs_all ? nullptr : message.dense();
    if (end.data == nullptr) {
      copies = packed_message(message);
      buffer_bytes += round_up(message.size_bytes(), cache_line_bytes);
    }
    return end;
  };
  for (std::size_t i = 0; i < round_.size(); ++i) {
    const auto& [direction, out, in] = round_[i];
    const auto other = std::find_if(round_.begin(), round_.end(),
                                    [&, wanted = direction.opposite()](const halo_leg& leg) { return leg.direction == wanted; });
    opposite_.push_back(static_cast<std::size_t>(other - round_.begin()));
    outgoing_.push_back(end_of(out, direction, packing_[i]));
    incoming_.push_back(end_of(in, direction, unpacking_[i]));
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
      if (end.data != nullptr || end.rank == MPI_PROC_NULL) continue;
      end.data = next;
      next += round_up(static_cast<std::size_t>(end.bytes), cache_line_bytes);
    }
}

// MPI would cut a message that is too long short by an error, and take one that is too short for whole.
void legs::check_sizes(const rank_grid& grid) {
  const auto deadline = guarded();
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& out = outgoing_[i];
    const auto& in = incoming_[i];
    int sent = 0;
    check(MPI_Sendrecv(&out.bytes, 1, MPI_INT, out.rank, out.tag, &sent, 1, MPI_INT, in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    if (in.rank == MPI_PROC_NULL || sent == in.bytes) continue;
    fail(errc::usage,
         "rank {} sends {} bytes of halo to rank {}, which expects {}: blocks that are neighbours along one dimension need equal "
         "extents along "
         "the others, and the same fields and widths",
         in.rank, sent, grid.ranks().rank(), in.bytes);
  }
}

}  // namespace longshore::mpi
