// Reads and sets the CPUs of threads by sched_getaffinity and sched_setaffinity. Also reads the
// quota of the control group, because a container may have less CPU time than its CPUs suggest.
#include <longshore/machine/affinity.hpp>

#include <longshore/machine/detail/control_groups.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace longshore {
namespace {

// A CPU set of fixed size needs no CPU_ALLOC. The size suffices for today's machines.
constexpr int max_cpus = 8192;
struct cpu_mask {
  cpu_set_t words[max_cpus / CPU_SETSIZE];
};
static_assert(max_cpus % CPU_SETSIZE == 0);

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_mask mask{};
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(mask), mask.words) == 0)
    for (int cpu = 0; cpu < max_cpus; ++cpu)
      if (CPU_ISSET_S(cpu, sizeof(mask), mask.words)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

int usable_cores() {
  const int allowed = static_cast<int>(allowed_cpus().size());
  const double quota = detail::quota_cores(detail::control_groups("cpu"));
  return std::max(1, static_cast<int>(std::ceil(std::min<double>(quota, allowed))));
}

bool bind_this_thread(std::span<const int> cpus) noexcept { return bind_thread(0, cpus); }

bool bind_thread(int thread_id, std::span<const int> cpus) noexcept {
  cpu_mask mask{};
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= max_cpus) return false;
    CPU_SET_S(cpu, sizeof(mask), mask.words);
  }
  return sched_setaffinity(thread_id, sizeof(mask), mask.words) == 0;
}

pinned::pinned(int cpu) {
  if (cpu < 0) return;
  original_cpus_ = allowed_cpus();
  bind_this_thread({&cpu, 1});
}

pinned::~pinned() {
  if (!original_cpus_.empty()) bind_this_thread(original_cpus_);
}

}  // namespace longshore
