// The factors tasks and task-count, for all patterns that have them.
#pragma once

#include <longshore/machine/affinity.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/transport/team.hpp>

#include "harness/pattern.hpp"

#include <string>

namespace longshore::bench {

/// The level of factor task-count; 0 if the variant has none.
[[nodiscard]] inline int task_count_of(const variant& levels) {
  return levels.contains("task_count") ? levels.at("task_count").get<int>() : 0;
}

/// The tasks of a rank. By default, layer serial has one task, and other layers have one for each
/// CPU of the rank. Tasks are bound to CPUs if the calling thread is bound to one CPU.
[[nodiscard]] inline task_options task_options_of(const team& ranks, const variant& levels) {
  const std::string layer = levels.at("tasks");
  const int cpus = static_cast<int>(ranks.cpus().size());
  const int count = levels.contains("task_count") ? task_count_of(levels)
                    : layer == "serial"           ? 1
                                                  : cpus;
  return {.layer = layer,
          .count = count,
          .cpus = ranks.cpus(),
          .pin = allowed_cpus().size() == 1,
          .spin = ranks.waiting().spin && count <= cpus};
}

}  // namespace longshore::bench
