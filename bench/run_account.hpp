// What the kernel, the processor and the waits counted while a variant was timed, over all ranks, for its record.
#pragma once

#include <longshore/machine/event_counters.hpp>
#include <longshore/machine/kernel_counts.hpp>
#include <longshore/transport/team.hpp>

#include "benchmark.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace longshore::bench {

/// Collective. The sum of what the ranks moved.
[[nodiscard]] traffic over_all_ranks(team& ranks, const traffic& mine);

/// What one rank counted in some timed operations.
struct counted_runs {
  long repetitions = 0, operations = 0;
  kernel_counts own;        ///< of the rank's process, or of its thread where it shares the process with other ranks
  kernel_counts until_met;  ///< the same until all ranks had stopped; nothing where the process is the rank's own
  kernel_counts process;    ///< of the process in that time, on one rank of it
  double waited_seconds = 0;
  std::vector<std::optional<double>> events;  ///< nothing: not counted in all repetitions
  double least_share = 1;                     ///< of the time in which an event had its register
  std::vector<phase_share> phases;            ///< sums over repetitions of the last operation of each
};

/// A process by its host and number: two hosts have equal numbers.
struct process_name {
  std::array<char, 64> host{};
  int number = 0;
  auto operator<=>(const process_name&) const = default;
};
[[nodiscard]] process_name this_process();

/// Counts on one rank, from when it is made on: threads that the rank starts later are its tasks, and count for it. Made before
/// the measurements are.
class run_counters {
 public:
  /// Collective. Tests give other events, and other processes.
  explicit run_counters(team& ranks, std::span<const counted_event> events = hardware_events(),
                        const process_name& process = this_process());

  /// Collective, before and after the timed operations; nothing of it is in their time. Ends with a barrier.
  void start();
  /// Adds to `sum` what happened since start().
  void stop(const measurement& what, long iterations, counted_runs& sum);

  /// Collective. For the record: of one operation, all ranks together (docs/reference/records.md, counters).
  [[nodiscard]] json account(const counted_runs& mine) const;

 private:
  struct reading {
    kernel_counts own, process;
    double waited_seconds = 0;
    std::vector<std::optional<event_count>> events;
  };
  [[nodiscard]] kernel_counts own_counts() const noexcept { return shared_process_ ? thread_counts() : process_counts(); }
  void add_events(const std::vector<std::optional<event_count>>& now, counted_runs& sum) const;
  [[nodiscard]] json events_account(const counted_runs& mine) const;
  [[nodiscard]] json phases_account(const counted_runs& mine) const;
  [[nodiscard]] json over_ranks(double sum_of_mine, double times) const;

  team& team_;
  event_counters events_;
  bool shared_process_ = false;     // whether any two ranks are of one process, by their names: all meet for it, or none
  bool speaks_for_process_ = true;  // its first rank does
  reading before_;
};

}  // namespace longshore::bench
