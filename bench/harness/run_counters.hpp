// Counters beside the time of a variant, over all ranks: of the kernel, of the processor, and of
// waiting.
#pragma once

#include <longshore/machine/event_counters.hpp>
#include <longshore/machine/resource_usage.hpp>
#include <longshore/transport/team.hpp>

#include "harness/measurement.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace longshore::bench {

/// Collective. The sum of the traffic of all ranks.
[[nodiscard]] traffic over_all_ranks(team& ranks, const traffic& mine);

/// Counts of one rank over some timed operations.
struct run_counts {
  long repetitions = 0, operations = 0;
  resource_usage own;  ///< of the rank's process, or of its thread if ranks share processes
  /// The same until all ranks had stopped; unused if no ranks share a process
  resource_usage until_barrier;
  resource_usage process;  ///< of the process until then, on one of its ranks
  double waited_seconds = 0;
  std::vector<std::optional<double>> events;  ///< nothing: not counted in all repetitions
  double least_share = 1;  ///< smallest share of the time in which an event had its register
  std::vector<phase_share> phases;  ///< sums over repetitions of the last operation of each
};

/// A process by host and number: numbers repeat between hosts.
struct process_name {
  std::array<char, 64> host{};
  int number = 0;
  auto operator<=>(const process_name&) const = default;
};
[[nodiscard]] process_name this_process();

/// Counts on one rank. Threads that the rank starts after the construction are its tasks and count
/// for it, so it is constructed before the measurements.
class run_counters {
 public:
  /// Collective. Tests pass other events and other processes.
  explicit run_counters(team& ranks, std::span<const counted_event> events = hardware_events(),
                        const process_name& process = this_process());

  /// Collective, right before the timed operations and outside their time. Ends with a barrier.
  void start();
  /// Collective, right after the timed operations. Adds the counts since start() to `sum`.
  void stop(const measurement& what, long iterations, run_counts& sum);

  /// Collective. Counts of one operation on all ranks, for the record (docs/reference/records.md, counters).
  [[nodiscard]] json per_operation(const run_counts& mine) const;

 private:
  struct reading {
    resource_usage own, process;
    double waited_seconds = 0;
    std::vector<std::optional<event_reading>> events;
  };
  [[nodiscard]] resource_usage own_counts() const noexcept {
    return shared_process_ ? thread_usage() : process_usage();
  }
  void add_events(const std::vector<std::optional<event_reading>>& now, run_counts& sum) const;
  [[nodiscard]] json events_per_operation(const run_counts& mine) const;
  [[nodiscard]] json phases_per_operation(const run_counts& mine) const;
  [[nodiscard]] json over_ranks(double sum_of_mine, double times) const;

  team& team_;
  event_counters events_;
  bool shared_process_ = false;     // whether any two ranks share a process: the same on all ranks
  bool counts_for_process_ = true;  // the first rank of each process
  reading before_;
};

}  // namespace longshore::bench
