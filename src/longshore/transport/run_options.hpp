// The options of a run.
#pragma once

#include <cstddef>
#include <string>

namespace longshore {

struct run_options {
  /// "threads", "mpi", "shmem" or "ucx". If empty: mpi under an MPI launcher, else threads.
  std::string transport;
  int ranks = 0;                 ///< threads only; 0 means the number of usable cores
  int ranks_per_node = 0;        ///< ranks of a virtual node; 0 means real nodes
  double timeout_seconds = 300;  ///< deadline of every wait; 0 means no deadline
  /// Compare every collective call between ranks, even if that takes additional messages.
  bool check_calls = false;
  bool pin = false;  ///< bind every rank to a CPU of its own if there are enough CPUs
  /// Put ranks on neighbouring cores, one rank per core. Otherwise all ranks get equal shares of
  /// the CPUs.
  bool compact = false;
  /// Threads only: if a start with more ranks than cores takes longer, its progress is printed.
  double notice_seconds = 3;
  /// Shmem only: the most bytes that a rank has in segments and channels at a time; 0 if unknown.
  std::size_t symmetric_bytes = 0;
};

}  // namespace longshore
