// Counts beside the time of a variant, over all ranks: page faults and context switches (from the
// kernel), hardware events (from the processor), and the time that ranks wait for each other.
#pragma once

#include <longshore/machine/event_counters.hpp>
#include <longshore/machine/resource_usage.hpp>
#include <longshore/transport/team.hpp>

#include "facts/process_id.hpp"
#include "harness/measurement.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace longshore::bench {

/// Collective. The sum of the traffic of all ranks.
[[nodiscard]] traffic traffic_of_all_ranks(team& ranks, const traffic& of_this_rank);

/// Counts of one rank, added up over its timed repetitions.
struct run_counts {
  long repetitions = 0, operations = 0;
  /// Usage of the rank's process, or of the rank's thread if any ranks share a process.
  resource_usage rank_usage;
  /// Only if ranks share a process: usage of the rank's thread, and of its process (on one rank of
  /// each process), until all ranks had stopped.
  resource_usage rank_usage_until_barrier, process_usage_until_barrier;
  double waited_seconds = 0;
  std::vector<std::optional<double>> events;  ///< nothing if not counted in all repetitions
  double min_event_share = 1;  ///< smallest share of the time in which an event had its register
  std::vector<phase_cost> phases;  ///< sums over repetitions of the last operation of each
};

/// Counts on one rank. Includes threads that the rank starts after the construction (its tasks).
/// Construct it before the measurements.
class run_counters {
 public:
  /// Collective.
  explicit run_counters(team& ranks)
      : run_counters(ranks, hardware_events(), this_process(ranks)) {}
  /// Collective. For tests, with other events and processes.
  run_counters(team& ranks, std::span<const counted_event> events, const process_id& process);

  /// Collective, right before the timed operations and outside their time. Ends with a barrier.
  void start();
  /// Collective, right after the timed operations. Adds the counts since start() to `sums`.
  void stop(const measurement& measured, long iterations, run_counts& sums);

  /// Collective. Counts of one operation on all ranks, for the record (docs/reference/records.md,
  /// counters).
  [[nodiscard]] json per_operation(const run_counts& counts) const;

 private:
  struct reading {
    resource_usage rank, process;
    double waited_seconds = 0;
    std::vector<std::optional<event_reading>> events;
  };
  [[nodiscard]] resource_usage read_rank_usage() const noexcept {
    return any_shared_process_ ? thread_usage() : process_usage();
  }
  void add_events(const std::vector<std::optional<event_reading>>& now, run_counts& sums) const;
  [[nodiscard]] std::array<std::int64_t, 4> usage_of_all_ranks(const run_counts& counts) const;
  [[nodiscard]] json events_per_operation(const run_counts& counts) const;
  [[nodiscard]] json phases_per_operation(const run_counts& counts) const;
  [[nodiscard]] json mean_and_max(double value_of_rank) const;

  team& team_;
  event_counters events_;
  bool any_shared_process_ = false;  // the same on all ranks
  bool counts_for_process_ = true;   // true on the first rank of each process
  reading at_start_;
};

}  // namespace longshore::bench
