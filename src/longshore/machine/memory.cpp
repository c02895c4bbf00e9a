#include <longshore/machine/memory.hpp>

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <string>

namespace longshore {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t read_number(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : unlimited;  // also for the word "max"
}

// What a control group still grants. Its usage counts file cache, which the kernel gives back under pressure; taking
// only anonymous use into account would need memory.stat, so inactive file pages are added back from there.
std::size_t cgroup_available_bytes() {
  const std::size_t limit = read_number("/sys/fs/cgroup/memory.max");
  const std::size_t used = read_number("/sys/fs/cgroup/memory.current");
  if (limit == unlimited || used == unlimited) return unlimited;
  std::size_t reclaimable = 0;
  std::ifstream stat("/sys/fs/cgroup/memory.stat");
  std::string key;
  for (std::size_t value = 0; stat >> key >> value;)
    if (key == "inactive_file") reclaimable = value;
  const std::size_t held = used - std::min(used, reclaimable);
  return limit - std::min(limit, held);
}

}  // namespace

std::size_t available_memory_bytes() {
  std::size_t available = unlimited;
  std::ifstream info("/proc/meminfo");
  std::string key, unit;
  for (std::size_t kibibytes = 0; info >> key >> kibibytes; std::getline(info, unit))
    if (key == "MemAvailable:") available = kibibytes * 1024;
  return std::min(available, cgroup_available_bytes());
}

std::size_t available_shared_memory_bytes() {
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) != 0 || status.f_blocks == 0) return unlimited;  // no blocks: mounted without a limit
  return static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
}

std::size_t last_level_cache_bytes() {
  // The kernel first: what the C library works out from processor registers can be the sum over the host of a virtual machine.
  for (const char* index : {"index3", "index2"}) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/") + index + "/size");
    std::size_t number = 0;
    char unit = ' ';
    if (file >> number && number > 0) return number << (file >> unit && unit == 'M' ? 20 : unit == 'K' ? 10 : 0);
  }
  const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (level3 > 0) return static_cast<std::size_t>(level3);
  const long level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return level2 > 0 ? static_cast<std::size_t>(level2) : std::size_t{32} << 20;
}

int last_level_cache_count() {
  std::set<std::string> sharers;  // a cache is known by the CPUs that share it
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index3/shared_cpu_list");
    if (std::string list; file >> list) sharers.insert(list);
  }
  return std::max(1, static_cast<int>(sharers.size()));
}

}  // namespace longshore
