// The options with which a transport is started.
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
  /// ranks compare every collective call, even if that takes additional messages
  bool check_calls = false;
  bool pin = false;  ///< bind every rank to a CPU of its own if there are enough CPUs
  /// place ranks on neighbouring cores, one core each; else spread them over all CPUs in equal
  /// shares
  bool compact = false;
  /// threads only: if starting more ranks than cores takes longer, its progress is printed
  double notice_seconds = 3;
  /// shmem only: the most bytes that a rank has in segments and channels at a time; 0: not known
  std::size_t symmetric_bytes = 0;
};

}  // namespace longshore
