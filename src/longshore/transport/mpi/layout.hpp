// Which ranks of a communicator share a host, and what each may use there.
#pragma once

#include <longshore/transport/mpi/team.hpp>

#include <vector>

namespace longshore::mpi {

struct team::layout {
  /// Collective. Where memory cannot be shared (the library has no shared windows, or LONGSHORE_MPI_SHARED=0) every rank is a host of its
  /// own, and rank 0 says so.
  layout(const communicator& ranks, int ranks_per_node, bool compact);

  communicator host;                         ///< the ranks of this host; this rank alone where memory cannot be shared
  std::unique_ptr<node_memory> host_memory;  ///< one page or more, shared by the host's ranks
  node_map nodes;
  std::vector<int> cpus;  ///< of this rank
  int ranks_on_host = 1;  ///< that really run there, whether they share memory or not
  bool enough_cores = true;
};

}  // namespace longshore::mpi
