// What a transport is started with.
#pragma once

#include <cstddef>
#include <string>

namespace longshore {

struct run_options {
  std::string
      transport;  ///< "threads", "mpi", "shmem", "ucx"; empty: mpi under an MPI launcher, else threads
  int ranks = 0;                 ///< threads only; 0: as many as there are usable cores
  int ranks_per_node = 0;        ///< virtual nodes of this many ranks; 0: the real nodes
  double timeout_seconds = 300;  ///< deadline of every wait; 0: none
  bool check_calls =
      false;  ///< ranks compare every collective call, also where that takes messages of its own
  bool pin = false;  ///< bind every rank to a CPU of its own where there are enough
  bool compact =
      false;  ///< ranks on neighbouring cores of the hardware, one core each; else spread over all CPUs in equal shares
  double notice_seconds =
      3;  ///< threads only: after so long a start of more ranks than cores says how far it is
  std::size_t symmetric_bytes =
      0;  ///< shmem only: what a rank will have in segments and channels at a time; 0: not known
};

}  // namespace longshore
