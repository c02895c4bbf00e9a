// Decides to which CPUs the threads of a tasking layer are bound. All layers use this file.
#include <longshore/machine/detail/task_layer.hpp>

namespace longshore::detail {

std::vector<std::vector<int>> cpus_of_tasks(const task_options& options) {
  const std::vector<int> allowed = options.cpus.empty()
                                       ? allowed_cpus()
                                       : std::vector<int>(options.cpus.begin(), options.cpus.end());
  const auto count = static_cast<std::size_t>(options.count);
  std::vector<std::vector<int>> cpus;
  cpus.reserve(count);
  for (std::size_t task = 0; task < count; ++task)
    cpus.push_back(options.pin ? std::vector{allowed[task * allowed.size() / count]} : allowed);
  return cpus;
}

task_0_binding::task_0_binding(const task_options& options,
                               const std::vector<std::vector<int>>& cpus) {
  // Does not bind if the thread has these CPUs already. Then several objects may end in any order.
  if (options.pin && allowed_cpus() != cpus.front()) binding_.emplace(cpus.front().front());
}

}  // namespace longshore::detail
