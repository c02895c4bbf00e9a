// The backend of mode partitioned (MPI 4): persistent messages in partitions. Each partition is
// sent as soon as it is packed. If the parts of a message, usually one per field, have equal sizes,
// each part is a partition. Otherwise the message is one partition, because MPI requires partitions
// of equal size.
//
// Cost: one step; 12 or 52 requests, one MPI_Pready per partition. start() does not block.
#pragma once

#include <longshore/halo/detail/mpi/nonblocking_backend.hpp>

#if MPI_VERSION >= 4
namespace longshore::mpi {

class partitioned_backend final : public nonblocking_backend {
 public:
  explicit partitioned_backend(const round_setup& setup);
  void start() override;
  [[nodiscard]] bool test() override;
};

}  // namespace longshore::mpi
#endif
