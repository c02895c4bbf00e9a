// Which ranks of a communicator share a host, and what each may use there.
#pragma once

#include <longshore/transport/mpi/team.hpp>

#include <vector>

namespace longshore::mpi {

/// Where things lie in the memory that the ranks of a host share, which is zero at first.
struct host_layout {
  explicit host_layout(std::size_t ranks_of_host)
      : row_bytes(detail::row_bytes_for(ranks_of_host, 4096)),
        barriers_at(round_up(sizeof(host_state), interference_bytes)),
        slots_at(barriers_at + ranks_of_host * sizeof(detail::node_barrier_state)),
        rows_at(slots_at + ranks_of_host * sizeof(detail::call_slot)),
        total_bytes(rows_at + ranks_of_host * 2 * row_bytes) {}

  std::size_t row_bytes;
  std::size_t barriers_at;  ///< of the node that rank i of the host leads
  std::size_t slots_at;     ///< for the calls of each rank
  std::size_t rows_at;      ///< two of each rank
  std::size_t total_bytes;
};

struct team::layout {
  /// Collective. Where memory cannot be shared (the library has no shared windows, or
  /// LONGSHORE_MPI_SHARED=0) every rank is a host of its own, and rank 0 says so.
  layout(const communicator& ranks, const run_options& options);

  /// the ranks of this host; this rank alone where memory cannot be shared
  communicator host;
  std::unique_ptr<node_memory> host_memory;  ///< what host_layout has, shared by the host's ranks
  node_map nodes;
  std::vector<int> cpus;  ///< of this rank
  int ranks_on_host = 1;  ///< that really run there, whether they share memory or not
  bool enough_cores = true;
  bool check_calls = false;  ///< the same on all ranks: one that asks for it decides
};

}  // namespace longshore::mpi
