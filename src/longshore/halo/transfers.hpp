// The ways in which the messages of an exchange move. A mode may use several: mode channel over MPI
// uses channels within a node, and posted requests between nodes.
#pragma once

#include <cstdint>

namespace longshore {

/// Payload bytes of this rank in one exchange, by the way in which they move.
struct halo_transfers {
  std::uint64_t copied = 0;    ///< copies within the rank
  std::uint64_t read = 0;      ///< the receiver reads the memory of the sender
  std::uint64_t channels = 0;  ///< packed into the slots of channels
  std::uint64_t posted = 0;    ///< receives that are posted early, and sends of MPI
  std::uint64_t mpi = 0;       ///< the MPI calls that the mode names

  halo_transfers& operator+=(const halo_transfers& other) noexcept {
    copied += other.copied;
    read += other.read;
    channels += other.channels;
    posted += other.posted;
    mpi += other.mpi;
    return *this;
  }
};

}  // namespace longshore
