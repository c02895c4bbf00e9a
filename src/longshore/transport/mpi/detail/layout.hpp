// Which ranks of a communicator share a host, and which CPUs and memory each rank may use there.
#pragma once

#include <longshore/transport/mpi/detail/team.hpp>

#include <vector>

namespace longshore::mpi {

/// The layout of the memory that the ranks of a host share. The memory is zero at first.
struct host_layout {
  explicit host_layout(std::size_t ranks_of_host)
      : staging_bytes(detail::staging_bytes_for(ranks_of_host, min_staging_bytes)),
        barriers_offset(round_up(sizeof(host_state), interference_bytes)),
        call_slots_offset(barriers_offset + ranks_of_host * sizeof(detail::node_barrier_state)),
        staging_offset(call_slots_offset + ranks_of_host * sizeof(detail::call_slot)),
        total_bytes(staging_offset + ranks_of_host * 2 * staging_bytes) {}

  std::size_t staging_bytes;
  std::size_t barriers_offset;    ///< entry i is the barrier of the node whose first rank is rank i
  std::size_t call_slots_offset;  ///< entry i is the call_slot of rank i
  std::size_t staging_offset;     ///< two staging buffers per rank
  std::size_t total_bytes;
};

struct team::layout {
  /// Collective. If memory cannot be shared (the library has no shared windows, /dev/shm is full,
  /// or LONGSHORE_MPI_SHARED=0), every rank counts as a separate host, and rank 0 prints a message.
  layout(const communicator& ranks, const run_options& options);

  /// The ranks of this host; only this rank if memory cannot be shared.
  communicator host;
  std::unique_ptr<node_memory> host_memory;  ///< has the contents of host_layout
  node_map nodes;
  std::vector<int> cpus;  ///< of this rank
  int ranks_on_host = 1;  ///< ranks on the physical host, also if they do not share memory
  std::size_t host_eager_bytes = 0;  ///< see team::eager_bytes_to; the same on all ranks
  bool enough_cores = true;
  bool check_calls = false;  ///< whether any rank has the option; the same on all ranks
};

}  // namespace longshore::mpi
