// The options of a run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace longshore {

/// The options of a run or of a team. For an option of type std::optional without a value the
/// environment decides, and else the default.
struct run_options {
  /// "threads", "mpi", "shmem", "ucx" or "simulated". If empty: mpi under an MPI launcher, else
  /// threads.
  std::string transport = {};
  /// Threads, where 0 means the number of usable cores; simulated, where 0 means the whole machine.
  int ranks = 0;
  /// Simulated only: the machine file. Else LONGSHORE_MACHINE.
  std::string machine = {};
  /// Ranks of a virtual node; 0 means real nodes. Else LONGSHORE_RANKS_PER_NODE, else 0. The same
  /// on all ranks.
  std::optional<int> ranks_per_node = {};
  /// The deadline of every wait; 0 means no deadline. Else LONGSHORE_TIMEOUT, else 300.
  std::optional<double> timeout_seconds = {};
  /// Compare every collective call between ranks, even if that takes additional messages. Else
  /// LONGSHORE_CHECK, else false. True if any rank says so.
  std::optional<bool> check_calls = {};
  bool pin = false;  ///< bind every rank to a CPU of its own if there are enough CPUs
  /// Put ranks on neighbouring cores, one rank per core. Otherwise all ranks get equal shares of
  /// the CPUs.
  bool compact = false;
  /// Threads only: if a start with more ranks than cores takes longer, its progress is printed.
  double notice_seconds = 3;
  /// Shmem only: the most bytes that a rank has in segments and channels at a time; 0 if unknown.
  std::size_t symmetric_bytes = 0;
};

/// The options, where those with std::optional have values: their own, else that of the
/// environment, else the default. Throws errc::usage for an invalid value in the environment.
/// Throws errc::usage for a value out of range in the options, too.
[[nodiscard]] run_options with_environment(run_options options);

namespace detail {
/// Throws errc::usage unless the smallest and the largest value of all ranks are equal.
void check_ranks_per_node(int smallest, int largest);
}  // namespace detail

}  // namespace longshore
