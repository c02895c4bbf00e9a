// Converts the factors tasks and task-count of a variant to the options of a rank's tasks.
#include "harness/task_factors.hpp"

#include <longshore/machine/affinity.hpp>

#include <string>

namespace longshore::bench {

int task_count_of(const variant& levels) {
  return levels.contains("task_count") ? levels.at("task_count").get<int>() : 0;
}

task_options task_options_of(const team& ranks, const variant& levels) {
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
