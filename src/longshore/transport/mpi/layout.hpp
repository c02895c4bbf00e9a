// Which ranks of a communicator share a host, and which CPUs and memory each may use there.
#pragma once

#include <longshore/transport/mpi/team.hpp>

#include <vector>

namespace longshore::mpi {

/// The layout of the memory that the ranks of a host share, which is zero at first.
struct host_layout {
  explicit host_layout(std::size_t ranks_of_host)
      : staging_bytes(detail::staging_bytes_for(ranks_of_host, 4096)),
        barriers_at(round_up(sizeof(host_state), interference_bytes)),
        call_slots_at(barriers_at + ranks_of_host * sizeof(detail::node_barrier_state)),
        staging_at(call_slots_at + ranks_of_host * sizeof(detail::call_slot)),
        total_bytes(staging_at + ranks_of_host * 2 * staging_bytes) {}

  std::size_t staging_bytes;
  std::size_t barriers_at;    ///< entry i: the barrier of the node whose first rank is rank i
  std::size_t call_slots_at;  ///< entry i: the posted calls of rank i
  std::size_t staging_at;     ///< two staging buffers per rank
  std::size_t total_bytes;
};

struct team::layout {
  /// Collective. If memory cannot be shared (the library has no shared windows, or
  /// LONGSHORE_MPI_SHARED=0), every rank is a host of its own, and rank 0 prints a message.
  layout(const communicator& ranks, const run_options& options);

  /// the ranks of this host; this rank alone if memory cannot be shared
  communicator host;
  std::unique_ptr<node_memory> host_memory;  ///< with the contents of host_layout
  node_map nodes;
  std::vector<int> cpus;  ///< of this rank
  int ranks_on_host = 1;  ///< number of ranks on the physical host, sharing memory or not
  bool enough_cores = true;
  bool check_calls = false;  ///< the same on all ranks: true if any rank wants it
};

}  // namespace longshore::mpi
