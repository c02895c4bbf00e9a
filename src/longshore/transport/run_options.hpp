// What a transport is started with.
#pragma once

#include <cstddef>
#include <string>

namespace longshore {

struct run_options {
  /// "threads", "mpi", "shmem", "ucx"; empty: mpi under an MPI launcher, else threads
  std::string transport;
  int ranks = 0;                 ///< threads only; 0: as many as there are usable cores
  int ranks_per_node = 0;        ///< virtual nodes of this many ranks; 0: the real nodes
  double timeout_seconds = 300;  ///< deadline of every wait; 0: none
  /// ranks compare every collective call, also where that takes messages of its own
  bool check_calls = false;
  bool pin = false;  ///< bind every rank to a CPU of its own where there are enough
  bool compact =
      /// ranks on neighbouring cores of the hardware, one core each; else spread over all CPUs in
      /// equal shares
      false;
  /// threads only: after so long a start of more ranks than cores says how far it is
  double notice_seconds = 3;
  /// shmem only: what a rank will have in segments and channels at a time; 0: not known
  std::size_t symmetric_bytes = 0;
};

}  // namespace longshore
