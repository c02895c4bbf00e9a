// Reads the counters of the kernel, the processor and the team before and after the timed
// operations, adds up the differences, and converts their sums over all ranks to counts of one
// operation.
#include "harness/run_counters.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace longshore::bench {
namespace {

// Minor and major page faults, voluntary and involuntary context switches.
std::array<std::int64_t, 4> sum_over_ranks(team& ranks, const resource_usage& usage) {
  std::array sums{static_cast<std::int64_t>(usage.faults.minor),
                  static_cast<std::int64_t>(usage.faults.major),
                  static_cast<std::int64_t>(usage.voluntary_switches),
                  static_cast<std::int64_t>(usage.involuntary_switches)};
  ranks.allreduce(sums, reduction::sum);
  return sums;
}

}  // namespace

traffic traffic_of_all_ranks(team& ranks, const traffic& of_this_rank) {
  std::array sums{static_cast<std::int64_t>(of_this_rank.messages),
                  static_cast<std::int64_t>(of_this_rank.payload_bytes),
                  static_cast<std::int64_t>(of_this_rank.wire_bytes),
                  static_cast<std::int64_t>(of_this_rank.offnode_bytes)};
  ranks.allreduce(sums, reduction::sum);
  return {static_cast<std::uint64_t>(sums[0]), static_cast<std::uint64_t>(sums[1]),
          static_cast<std::uint64_t>(sums[2]), static_cast<std::uint64_t>(sums[3])};
}

run_counters::run_counters(team& ranks, std::span<const counted_event> events,
                           const process_id& process)
    : team_(ranks), events_(events) {
  auto processes = ranks.allgather_value(process);
  counts_for_process_ = is_first_rank_of_process(processes, ranks.rank());
  std::sort(processes.begin(), processes.end());
  any_shared_process_ = std::adjacent_find(processes.begin(), processes.end()) != processes.end();
}

void run_counters::start() {
  team_.barrier();  // all ranks have finished their preparations
  if (any_shared_process_ && counts_for_process_) at_start_.process = process_usage();
  at_start_.events = events_.read();
  at_start_.rank = read_rank_usage();
  team_.barrier();
  at_start_.waited_seconds = team_.waited_seconds();
}

void run_counters::stop(const measurement& measured, long iterations, run_counts& sums) {
  sums.waited_seconds += team_.waited_seconds() - at_start_.waited_seconds;
  sums.rank_usage += read_rank_usage() - at_start_.rank;
  add_events(events_.read(), sums);
  sums.repetitions += 1;
  sums.operations += iterations;
  const auto phases = measured.phase_costs();
  sums.phases.resize(phases.size());
  for (std::size_t i = 0; i < phases.size(); ++i) {
    sums.phases[i].name = phases[i].name;
    sums.phases[i].waited_seconds += phases[i].waited_seconds;
    sums.phases[i].moved += phases[i].moved;
  }
  if (!any_shared_process_) return;
  team_.barrier();
  if (counts_for_process_) sums.process_usage_until_barrier += process_usage() - at_start_.process;
  sums.rank_usage_until_barrier += read_rank_usage() - at_start_.rank;
}

void run_counters::add_events(const std::vector<std::optional<event_reading>>& now,
                              run_counts& sums) const {
  if (sums.repetitions == 0) sums.events.assign(now.size(), 0.0);
  for (std::size_t i = 0; i < now.size(); ++i) {
    std::optional<double> counted;
    if (now[i] && at_start_.events[i]) {
      counted = count_between(*at_start_.events[i], *now[i]);
      sums.min_event_share =
          std::min(sums.min_event_share, counted_share(*at_start_.events[i], *now[i]));
    }
    sums.events[i] =
        sums.events[i] && counted ? std::optional(*sums.events[i] + *counted) : std::nullopt;
  }
}

json run_counters::per_operation(const run_counts& counts) const {
  const double scale = counts.operations > 0 ? 1.0 / static_cast<double>(counts.operations) : 0;
  std::array<double, 4> usage{};
  std::ranges::transform(usage_of_all_ranks(counts), usage.begin(),
                         [&](std::int64_t count) { return scale * static_cast<double>(count); });
  json account{{"repetitions", counts.repetitions},
               {"operations", counts.operations},
               {"page_faults", {{"minor", usage[0]}, {"major", usage[1]}}},
               {"context_switches", {{"voluntary", usage[2]}, {"involuntary", usage[3]}}},
               {"waited_seconds", mean_and_max(scale * counts.waited_seconds)}};
  account.update(events_per_operation(counts));
  if (!counts.phases.empty()) account["phases"] = phases_per_operation(counts);
  return account;
}

// If ranks are threads, their tasks are further threads of the same process. The usage of the tasks
// is the usage of all processes minus that of all ranks, both read after the same barrier. A
// difference below 0 counts as 0.
std::array<std::int64_t, 4> run_counters::usage_of_all_ranks(const run_counts& counts) const {
  auto usage = sum_over_ranks(team_, counts.rank_usage);
  const auto processes = sum_over_ranks(team_, counts.process_usage_until_barrier),
             ranks = sum_over_ranks(team_, counts.rank_usage_until_barrier);
  for (std::size_t i = 0; i < usage.size(); ++i)
    usage[i] += std::max<std::int64_t>(0, processes[i] - ranks[i]);
  return usage;
}

json run_counters::mean_and_max(double value_of_rank) const {
  const double sum = team_.allreduce_value(value_of_rank, reduction::sum);
  return {{"mean", sum / team_.size()},
          {"max", team_.allreduce_value(value_of_rank, reduction::max)}};
}

json run_counters::events_per_operation(const run_counts& counts) const {
  json values = json::object(), why_not = json::object();
  bool any_counted = false;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const bool counted = i < counts.events.size() && counts.events[i].has_value();
    const int all_counted = team_.allreduce_value(counted ? 1 : 0, reduction::min);
    const double sum = team_.allreduce_value(counted ? *counts.events[i] : 0.0, reduction::sum);
    const std::string name = events_.name(i);
    if (all_counted == 1 && counts.operations > 0) {
      values[name] = sum / static_cast<double>(counts.operations);
      any_counted = true;
      continue;
    }
    values[name] = nullptr;
    why_not[name] = !events_.why_not(i).empty() ? events_.why_not(i)
                    : counted                   ? "not counted on another rank"
                                                : "other events had its register all the time";
  }
  const double min_share = team_.allreduce_value(counts.min_event_share, reduction::min);
  json account{{"hardware", values}};
  if (any_counted) account["hardware_share_counted"] = min_share;
  if (!why_not.empty()) account["hardware_why_not"] = why_not;
  return account;
}

json run_counters::phases_per_operation(const run_counts& counts) const {
  // Divides by repetitions, because phases are known only for the last operation of each.
  const double scale = 1.0 / static_cast<double>(counts.repetitions);
  json phases = json::object();
  for (const auto& phase : counts.phases) {
    const traffic moved = traffic_of_all_ranks(team_, phase.moved);
    phases[phase.name] = {{"waited_seconds", mean_and_max(scale * phase.waited_seconds)},
                          {"messages", scale * static_cast<double>(moved.messages)},
                          {"wire_bytes", scale * static_cast<double>(moved.wire_bytes)},
                          {"offnode_bytes", scale * static_cast<double>(moved.offnode_bytes)}};
  }
  return phases;
}

}  // namespace longshore::bench
