// The memory of the channels within a node. MPI takes far longer to make shared memory than a plan
// takes for the rest, and a program makes many plans. So the channel sets of a team share windows,
// in which each set takes a piece.
#pragma once

#include <longshore/transport/mpi/detail/node_memory.hpp>

#include <cstddef>
#include <list>
#include <map>

namespace longshore::mpi {

class team;

/// Windows of memory that the ranks of a node share. All ranks of the team make the same calls in
/// the same order, so a piece has the same offset in the part of each rank.
class channel_memory {
  struct window {
    window(const communicator& node, std::size_t bytes) : memory(node, bytes), part_bytes(bytes) {}
    node_memory memory;
    std::size_t part_bytes;
    std::map<std::size_t, std::size_t> pieces;  // bytes of each piece, by its offset
  };

 public:
  /// A piece of a window, as long as give_back() has not returned it.
  class piece {
   public:
    /// Where the piece begins in the part of a rank of the node.
    [[nodiscard]] std::byte* part(int local_index) const noexcept {
      return of_->memory.part(local_index) + offset_;
    }

   private:
    friend channel_memory;
    std::list<window>::iterator of_;
    std::size_t offset_ = 0;
  };

  /// Collective over the team. Returns a piece in which each rank has `shared_bytes` or more, with
  /// any contents. Its parts begin at cache lines of their own. If no window has room, makes one,
  /// which has at most 16 MiB per rank more than the piece. Throws errc::out_of_memory on all ranks
  /// unless each rank can have both numbers of bytes; `own_bytes` are those that the caller
  /// allocates.
  piece take(team& team, std::size_t shared_bytes, std::size_t own_bytes);
  /// Collective over the team. A window of 1 MiB per rank stays, for later sets. Any other window is
  /// freed with its last piece.
  void give_back(const piece& returned);

 private:
  std::list<window> windows_;
};

}  // namespace longshore::mpi
