#include <longshore/machine/task_layer.hpp>

namespace longshore {

std::vector<int> cpus_of_task(std::span<const int> cpus, int task, int count, bool pin) {
  if (!pin) return {cpus.begin(), cpus.end()};
  return {cpus[static_cast<std::size_t>(task) * cpus.size() / static_cast<std::size_t>(count)]};
}

std::vector<std::vector<int>> cpus_of_tasks(const task_options& options) {
  const std::vector<int> all = options.cpus.empty()
                                   ? allowed_cpus()
                                   : std::vector<int>(options.cpus.begin(), options.cpus.end());
  std::vector<std::vector<int>> cpus;
  cpus.reserve(static_cast<std::size_t>(options.count));
  for (int task = 0; task < options.count; ++task)
    cpus.push_back(cpus_of_task(all, task, options.count, options.pin));
  return cpus;
}

task_0_binding::task_0_binding(const task_options& options,
                               const std::vector<std::vector<int>>& cpus) {
  // Only where it changes something: bindings of several tasks then need not end in reverse order.
  if (options.pin && allowed_cpus() != cpus.front()) binding_.emplace(cpus.front().front());
}

}  // namespace longshore
