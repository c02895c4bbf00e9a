// Reads the available memory and the sizes of caches from files of the kernel. The limits of
// control groups count too, because a batch system may give a job less memory than the machine has.
#include <longshore/machine/memory_sizes.hpp>

#include <longshore/core/error.hpp>
#include <longshore/machine/detail/control_groups.hpp>

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

// Bytes that one group still grants. The usage includes file cache, whose inactive part the kernel
// frees on demand.
std::size_t group_available_bytes(const detail::control_group& group) {
  const bool is_first = group.version == 1;
  const std::size_t limit = read_number(group.folder /
                                        (is_first ? "memory.limit_in_bytes" : "memory.max")),
                    used = read_number(group.folder /
                                       (is_first ? "memory.usage_in_bytes" : "memory.current"));
  if (limit == unlimited || used == unlimited) return unlimited;
  std::size_t reclaimable = 0;
  std::ifstream stat(group.folder / "memory.stat");
  std::string key;
  for (std::size_t value = 0; stat >> key >> value;)
    if (key == (is_first ? "total_inactive_file" : "inactive_file")) reclaimable = value;
  const std::size_t held = used - std::min(used, reclaimable);
  return limit - std::min(limit, held);
}

// The minimum over the group of this process and the group's ancestors. A batch system may set the
// limit of a job at any of these groups.
std::size_t cgroup_available_bytes() {
  std::size_t available = unlimited;
  for (const auto& group : detail::control_groups("memory"))
    available = std::min(available, group_available_bytes(group));
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

std::string small_shared_memory_remedy() {
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) != 0 || status.f_blocks == 0) return "";
  const std::size_t bytes = static_cast<std::size_t>(status.f_blocks) * status.f_frsize;
  if (bytes >= available_memory_bytes() / 2) return "";
  return "; /dev/shm has only " + std::to_string(bytes >> 20) +
         " MiB, which a larger one would mend: docker run --shm-size=8g, or mount -o "
         "remount,size=8g /dev/shm";
}

std::size_t last_level_cache_bytes() {
  // Asks the kernel before the C library, which reads registers of the processor. In a virtual
  // machine these registers may show the caches of the whole host. index3 is the third level, if
  // the processor has one, and index2 the second.
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
