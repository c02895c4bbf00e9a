// The options of a run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace longshore {

/// The options of a run or of a team. An option of type std::optional without a value gets the
/// value of its environment variable, or the default if that is not set.
struct run_options {
  /// "threads", "mpi", "shmem", "ucx" or "simulated". If empty: mpi under an MPI launcher, else
  /// threads.
  std::string transport = {};
  /// For threads (0 means the number of usable cores) and simulated (0 means the whole machine).
  int ranks = 0;
  /// Simulated only: the machine file. If empty, variable LONGSHORE_MACHINE names the file.
  std::string machine = {};
  /// Ranks of a virtual node; 0 means real nodes. Must be the same on all ranks. Variable
  /// LONGSHORE_RANKS_PER_NODE, default 0.
  std::optional<int> ranks_per_node = {};
  /// The deadline of every wait; 0 means no deadline. Variable LONGSHORE_TIMEOUT, default 300.
  std::optional<double> timeout_seconds = {};
  /// Compare every collective call between ranks, even if that takes additional messages. True on
  /// all ranks if true on any rank. Variable LONGSHORE_CHECK, default false.
  std::optional<bool> check_calls = {};
  bool pin = false;  ///< bind every rank to a CPU of its own if there are enough CPUs
  /// Put ranks on neighbouring cores, one rank per core. Otherwise all ranks get equal shares of
  /// the CPUs.
  bool compact = false;
  /// Threads only: if a start with more ranks than cores takes longer, prints its progress.
  double notice_seconds = 3;
  /// Shmem only: the most bytes that a rank has in segments and channels at a time; 0 if unknown.
  std::size_t symmetric_bytes = 0;
};

/// Returns the options with a value for each std::optional: its own, else that of the environment,
/// else the default. Throws errc::usage for an invalid value in the environment or in the options.
[[nodiscard]] run_options with_environment(run_options options);

namespace detail {
/// Throws errc::usage unless the smallest and the largest value of all ranks are equal.
void check_ranks_per_node(int smallest, int largest);
}  // namespace detail

}  // namespace longshore
