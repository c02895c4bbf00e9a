// Mode partitioned (MPI 4): persistent messages in partitions, each sent as soon as it is packed. A
// partition is a field, where the fields have equal parts of a message, else the whole message: MPI
// has equal partitions only.
//
// Cost: one step; 12 or 52 requests, one MPI_Pready per field and message. start() does not block.
#pragma once

#include <longshore/halo/detail/mpi/all_at_once.hpp>

#if MPI_VERSION >= 4
namespace longshore::mpi {

class partitioned final : public all_at_once {
 public:
  partitioned(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);
  ~partitioned() override;
  void start() override;
  [[nodiscard]] bool test() override;
};

}  // namespace longshore::mpi
#endif
