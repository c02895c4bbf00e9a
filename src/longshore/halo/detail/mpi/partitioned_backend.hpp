// The backend of mode partitioned (MPI 4): persistent messages in partitions. Each partition is
// sent as soon as it is packed. If all fields have equal parts of a message, a partition is a
// field. Otherwise it is the whole message, because MPI requires partitions of equal size.
//
// Cost: one step; 12 or 52 requests, one MPI_Pready per field and message. start() does not block.
#pragma once

#include <longshore/halo/detail/mpi/nonblocking_backend.hpp>

#if MPI_VERSION >= 4
namespace longshore::mpi {

class partitioned_backend final : public nonblocking_backend {
 public:
  partitioned_backend(const rank_grid& grid, detail::halo_round round,
                      const round_communicator& tags, tasks* workers);
  ~partitioned_backend() override;
  void start() override;
  [[nodiscard]] bool test() override;
};

}  // namespace longshore::mpi
#endif
