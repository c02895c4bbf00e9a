// Reads the available memory and the sizes of caches from files of the kernel. The limits of
// control groups count too, because a batch system may give a job less memory than the machine has.
#include <longshore/machine/memory_sizes.hpp>

#include <longshore/core/error.hpp>

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
  return file >> value ? value : unlimited;  // unlimited also for the word "max"
}

// File names of the memory controller, which differ between the two versions of control groups.
struct memory_controller {
  fs::path root;
  const char *limit, *usage, *reclaimable;
};

// Bytes that one group still grants. The usage includes file cache, whose inactive part the kernel
// frees on demand.
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

// The minimum over the group of this process and the group's ancestors. A batch system may set the
// limit of a job at any of these groups.
std::size_t cgroup_available_bytes() {
  std::size_t available = unlimited;
  // Lines are "number:controllers:/path"; version 2 has no controllers.
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
    // A container may see the path of the host. Then the folders of the path do not exist here, and
    // only the root has values.
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();;
         group = group.parent_path()) {
      available = std::min(available, group_available_bytes(controller, controller.root / group));
      if (group.empty()) break;
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

void require_available_memory(std::size_t bytes) {
  const std::size_t available = available_memory_bytes();
  if (bytes > available)
    fail(errc::out_of_memory,
         "{} bytes of memory requested, {} are available: use smaller arrays or fewer ranks per "
         "node",
         bytes, available);
}

std::size_t available_shared_memory_bytes() {
  struct statvfs status {};
  // f_blocks is 0 if the file system has no limit.
  if (statvfs("/dev/shm", &status) != 0 || status.f_blocks == 0) return unlimited;
  return static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
}

std::size_t last_level_cache_bytes() {
  // The kernel comes first. The C library reads processor registers, which in a virtual machine may
  // show the caches of the whole host.
  // index3 is the third level, if the processor has one, and index2 the second.
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
  std::set<std::string> sharers;  // a cache is identified by its list of CPUs
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/cache/index3/shared_cpu_list");
    if (std::string list; file >> list) sharers.insert(list);
  }
  return std::max(1, static_cast<int>(sharers.size()));
}

}  // namespace longshore
