// In which ways the payload of an exchange moves.
#pragma once

#include <cstdint>

namespace longshore {

/// The payload bytes that this rank gives in one exchange, split by the way in which they move. A plan
/// may use several ways: mode channel over MPI uses channels within a node, and posted requests
/// between nodes.
struct exchange_transfers {
  std::uint64_t copied = 0;    ///< copies within the rank
  std::uint64_t read = 0;      ///< the receiver reads the memory of the sender
  std::uint64_t channels = 0;  ///< packed into the slots of channels
  std::uint64_t posted = 0;  ///< persistent requests of MPI, if the mode is not a sequence of calls
  std::uint64_t mpi = 0;     ///< the calls of a mode or strategy that is a sequence of MPI calls

  exchange_transfers& operator+=(const exchange_transfers& other) noexcept {
    copied += other.copied;
    read += other.read;
    channels += other.channels;
    posted += other.posted;
    mpi += other.mpi;
    return *this;
  }
};

}  // namespace longshore
