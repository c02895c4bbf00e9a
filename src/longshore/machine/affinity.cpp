// Reads and sets the CPUs of threads by sched_getaffinity and sched_setaffinity. Also reads the
// quota of the control group, because a container may have less CPU time than its CPUs suggest.
#include <longshore/machine/affinity.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace longshore {
namespace {

// A CPU set of fixed size needs no CPU_ALLOC. The size suffices for today's machines.
constexpr int max_cpus = 8192;
struct cpu_mask {
  cpu_set_t words[max_cpus / CPU_SETSIZE];
};
static_assert(max_cpus % CPU_SETSIZE == 0);

// Number of cores in the quota of the control group (version 2, else 1); max_cpus without a quota.
double quota_cores() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max");
      file >> quota >> period && quota != "max" && period > 0)
    return std::stod(quota) / period;
  double microseconds = -1;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
      period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_file >> microseconds && period_file >> period && microseconds > 0 && period > 0)
    return microseconds / period;
  return max_cpus;
}

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
  return std::clamp(static_cast<int>(std::ceil(quota_cores())), 1, allowed);
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
