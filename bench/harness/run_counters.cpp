#include "harness/run_counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace longshore::bench {
namespace {

std::array<std::int64_t, 4> as_numbers(const resource_usage& counts) {
  return {static_cast<std::int64_t>(counts.faults.minor),
          static_cast<std::int64_t>(counts.faults.major),
          static_cast<std::int64_t>(counts.voluntary_switches),
          static_cast<std::int64_t>(counts.involuntary_switches)};
}

}  // namespace

process_name this_process() {
  process_name mine;
  gethostname(mine.host.data(), mine.host.size() - 1);
  mine.number = getpid();
  return mine;
}

traffic over_all_ranks(team& ranks, const traffic& mine) {
  std::array<std::int64_t, 4> sums{
      static_cast<std::int64_t>(mine.messages), static_cast<std::int64_t>(mine.payload_bytes),
      static_cast<std::int64_t>(mine.wire_bytes), static_cast<std::int64_t>(mine.offnode_bytes)};
  ranks.allreduce(sums, reduction::sum);
  return {static_cast<std::uint64_t>(sums[0]), static_cast<std::uint64_t>(sums[1]),
          static_cast<std::uint64_t>(sums[2]), static_cast<std::uint64_t>(sums[3])};
}

run_counters::run_counters(team& ranks, std::span<const counted_event> events,
                           const process_name& process)
    : team_(ranks), events_(events) {
  const auto all = ranks.allgather_value(process);
  counts_for_process_ = std::find(all.begin(), all.end(), process) - all.begin() == ranks.rank();
  auto sorted = all;
  std::sort(sorted.begin(), sorted.end());
  shared_process_ = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

void run_counters::start() {
  team_.barrier();  // the others have finished their preparations
  if (shared_process_ && counts_for_process_) before_.process = process_usage();
  before_.events = events_.read();
  before_.own = own_counts();
  team_.barrier();
  before_.waited_seconds = team_.waited_seconds();
}

void run_counters::stop(const measurement& what, long iterations, run_counts& sum) {
  sum.waited_seconds += team_.waited_seconds() - before_.waited_seconds;
  sum.own += own_counts() - before_.own;
  add_events(events_.read(), sum);
  sum.repetitions += 1;
  sum.operations += iterations;
  const auto phases = what.phase_shares();
  sum.phases.resize(phases.size());
  for (std::size_t i = 0; i < phases.size(); ++i) {
    sum.phases[i].name = phases[i].name;
    sum.phases[i].waited_seconds += phases[i].waited_seconds;
    sum.phases[i].moved += phases[i].moved;
  }
  if (!shared_process_) return;
  team_.barrier();
  if (counts_for_process_) sum.process += process_usage() - before_.process;
  sum.until_barrier += own_counts() - before_.own;
}

void run_counters::add_events(const std::vector<std::optional<event_reading>>& now,
                              run_counts& sum) const {
  if (sum.repetitions == 0) sum.events.assign(now.size(), 0.0);
  for (std::size_t i = 0; i < now.size(); ++i) {
    std::optional<double> counted;
    if (now[i] && before_.events[i]) {
      counted = count_between(*before_.events[i], *now[i]);
      sum.least_share = std::min(sum.least_share, counted_share(*before_.events[i], *now[i]));
    }
    sum.events[i] =
        sum.events[i] && counted ? std::optional(*sum.events[i] + *counted) : std::nullopt;
  }
}

json run_counters::per_operation(const run_counts& mine) const {
  const double each = mine.operations > 0 ? 1.0 / static_cast<double>(mine.operations) : 0;
  // Where ranks are threads, the rest of the process are the threads of tasks.
  auto own = as_numbers(mine.own), until_barrier = as_numbers(mine.until_barrier),
       process = as_numbers(mine.process);
  team_.allreduce(own, reduction::sum);
  team_.allreduce(until_barrier, reduction::sum);
  team_.allreduce(process, reduction::sum);
  std::array<double, 4> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = each *
             static_cast<double>(own[i] + std::max<std::int64_t>(0, process[i] - until_barrier[i]));
  json account{{"repetitions", mine.repetitions},
               {"operations", mine.operations},
               {"page_faults", {{"minor", all[0]}, {"major", all[1]}}},
               {"context_switches", {{"voluntary", all[2]}, {"involuntary", all[3]}}},
               {"waited_seconds", over_ranks(mine.waited_seconds, each)}};
  account.update(events_per_operation(mine));
  if (!mine.phases.empty()) account["phases"] = phases_per_operation(mine);
  return account;
}

json run_counters::over_ranks(double sum_of_mine, double times) const {
  const double total = team_.allreduce_value(sum_of_mine, reduction::sum),
               most = team_.allreduce_value(sum_of_mine, reduction::max);
  return {{"mean", total * times / team_.size()}, {"max", most * times}};
}

json run_counters::events_per_operation(const run_counts& mine) const {
  json values = json::object(), why_not = json::object();
  bool any = false;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const bool counted = i < mine.events.size() && mine.events[i].has_value();
    const int ranks_counting = team_.allreduce_value(counted ? 1 : 0, reduction::sum);
    const double sum = team_.allreduce_value(counted ? *mine.events[i] : 0.0, reduction::sum);
    const std::string name = events_.name(i);
    if (ranks_counting == team_.size() && mine.operations > 0) {
      values[name] = sum / static_cast<double>(mine.operations);
      any = true;
      continue;
    }
    values[name] = nullptr;
    why_not[name] = !events_.why_not(i).empty() ? events_.why_not(i)
                    : counted                   ? "not counted on another rank"
                                                : "other events had its register all the time";
  }
  const double least_share = team_.allreduce_value(mine.least_share, reduction::min);
  json account{{"hardware", values}};
  if (any) account["hardware_share_counted"] = least_share;
  if (!why_not.empty()) account["hardware_why_not"] = why_not;
  return account;
}

json run_counters::phases_per_operation(const run_counts& mine) const {
  const double each = 1.0 / static_cast<double>(mine.repetitions);
  json phases = json::object();
  for (const auto& phase : mine.phases) {
    const traffic moved = over_all_ranks(team_, phase.moved);
    phases[phase.name] = {{"waited_seconds", over_ranks(phase.waited_seconds, each)},
                          {"messages", each * static_cast<double>(moved.messages)},
                          {"wire_bytes", each * static_cast<double>(moved.wire_bytes)},
                          {"offnode_bytes", each * static_cast<double>(moved.offnode_bytes)}};
  }
  return phases;
}

}  // namespace longshore::bench
