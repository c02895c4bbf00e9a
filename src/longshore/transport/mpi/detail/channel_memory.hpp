// The memory of the channels within a node. MPI takes far longer to make shared memory than a plan
// takes for the rest, and a program makes many plans. So the channel sets of a team share windows,
// in which each set takes a piece.
#pragma once

#include <longshore/transport/mpi/detail/node_memory.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <map>

namespace longshore::mpi {

class team;

/// Windows of memory that the ranks of a node share. A piece lies in the same window on all ranks,
/// and each rank chooses the offset in its part.
class channel_memory {
  // The part of each rank begins with a cache line, which tells the offset of its last piece. Calls
  // of take() use two words of the line by turns, because peers may still read the word before.
  struct window {
    window(const communicator& node, std::size_t bytes) : memory(node, bytes), part_bytes(bytes) {}
    node_memory memory;
    std::size_t part_bytes;
    std::map<std::size_t, std::size_t> pieces;  // bytes of each piece, by its offset
  };

 public:
  /// A piece of a window, as long as give_back() has not returned it.
  class piece {
    friend channel_memory;
    std::list<window>::iterator of_;
    std::size_t offset_ = 0;
  };

  /// Collective over the team: usually one allreduce. Returns a piece in which this rank has
  /// `shared_bytes` or more, at cache lines of its own. `write` gets the address, and writes what
  /// other ranks read after this call. It may be called again, with another address. If no window
  /// has room, makes one, which has at most 16 MiB per rank more than the piece. Throws
  /// errc::out_of_memory on all ranks unless each rank can have both numbers of bytes; `own_bytes`
  /// are those that the caller allocates.
  piece take(team& team, std::size_t shared_bytes, std::size_t own_bytes,
             const std::function<void(std::byte*)>& write);
  /// Returns where the last piece begins in the part of a rank of the node. With several nodes, call
  /// this after a barrier.
  [[nodiscard]] std::byte* part(const piece& taken, int local_index) const noexcept {
    std::byte* const part = taken.of_->memory.part(local_index);
    return part + reinterpret_cast<const std::size_t*>(part)[turn_];
  }
  /// Collective over the team. A window of 1 MiB per rank stays, for later sets. Any other window is
  /// freed with its last piece.
  void give_back(const piece& returned);

 private:
  std::list<window> windows_;
  std::size_t turn_ = 0;
};

}  // namespace longshore::mpi
