#include <longshore/machine/memory.hpp>

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>

namespace longshore {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

namespace fs = std::filesystem;

std::size_t read_number(const fs::path& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : unlimited;  // also for the word "max"
}

// File names of the memory controller, which differ between the two versions of control groups.
struct memory_controller {
  fs::path root;
  const char *limit, *usage, *reclaimable;
};

// Bytes that one group still grants. Its usage includes file cache; the kernel frees the inactive
// part of that on demand.
std::size_t group_available_bytes(const memory_controller& controller, const fs::path& group) {
  const std::size_t limit = read_number(group / controller.limit),
                    used = read_number(group / controller.usage);
  if (limit == unlimited || used == unlimited) return unlimited;
  std::size_t reclaimable = 0;
  std::ifstream stat(group / "memory.stat");
  std::string key;
  for (std::size_t value = 0; stat >> key >> value;)
    if (key == controller.reclaimable) reclaimable = value;
  const std::size_t held = used - std::min(used, reclaimable);
  return limit - std::min(limit, held);
}

// The least that this process's group and its ancestors grant. A batch system may set the limit of
// a job at any of these levels.
std::size_t cgroup_available_bytes() {
  std::size_t available = unlimited;
  // Lines are "number:controllers:/path"; in version 2 without controllers.
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    memory_controller controller;
    if (controllers == ",,")
      controller = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
    else if (controllers.find(",memory,") != std::string::npos)
      controller = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                    "total_inactive_file"};
    else
      continue;
    // In a container the path may be that of the host. Then its folders do not exist here, and only
    // the root has values.
    for (fs::path below = fs::path(line.substr(second + 1)).relative_path();;
         below = below.parent_path()) {
      available = std::min(available, group_available_bytes(controller, controller.root / below));
      if (below.empty()) break;
    }
  }
  return available;
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
  // f_blocks is 0 if the file system has no limit.
  if (statvfs("/dev/shm", &status) != 0 || status.f_blocks == 0) return unlimited;
  return static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
}

std::size_t last_level_cache_bytes() {
  // Asks the kernel first: the C library reads processor registers, which in a virtual machine may
  // show the sum over the host.
  for (const char* index : {"index3", "index2"}) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/") + index + "/size");
    std::size_t number = 0;
    char unit = ' ';
    if (file >> number && number > 0)
      return number << (file >> unit && unit == 'M' ? 20 : unit == 'K' ? 10 : 0);
  }
  const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (level3 > 0) return static_cast<std::size_t>(level3);
  const long level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return level2 > 0 ? static_cast<std::size_t>(level2) : std::size_t{32} << 20;
}

int last_level_cache_count() {
  std::set<std::string> sharers;  // the CPUs that share a cache identify it
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/cache/index3/shared_cpu_list");
    if (std::string list; file >> list) sharers.insert(list);
  }
  return std::max(1, static_cast<int>(sharers.size()));
}

}  // namespace longshore
