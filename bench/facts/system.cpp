// Reads facts about the machine from files under /proc, /sys and /etc. A missing file makes a fact
// null; it is no error.
#include "facts/system.hpp"

#include <longshore/machine/affinity.hpp>

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace longshore::bench {
namespace {

namespace fs = std::filesystem;

json first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line) || line.empty()) return nullptr;
  return line;
}

// The value of a line "key : value" in /proc/cpuinfo. Null without such a line.
json cpu_info(const fs::path& root, std::string_view key) {
  std::ifstream in(root / "proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto name_end = line.find_last_not_of(" \t", colon - 1);
    if (std::string_view(line).substr(0, name_end + 1) != key) continue;
    const auto value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? json(nullptr) : json(line.substr(value));
  }
  return nullptr;
}

// The socket of a CPU and its core there, as texts. Nothing if one is unknown.
std::optional<std::pair<std::string, std::string>> core_of(const fs::path& cpu) {
  const json socket = first_line(cpu / "topology/physical_package_id"),
             core = first_line(cpu / "topology/core_id");
  if (!socket.is_string() || !core.is_string()) return std::nullopt;
  return std::pair<std::string, std::string>(socket, core);
}

// Folders of `parent` that are named `prefix` and a number.
std::vector<fs::path> numbered(const fs::path& parent, std::string_view prefix) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    if (name.size() > prefix.size() && name.starts_with(prefix) &&
        std::all_of(name.begin() + static_cast<long>(prefix.size()), name.end(),
                    [](unsigned char c) { return std::isdigit(c) != 0; }))
      folders.push_back(entry.path());
  }
  return folders;
}

json count_or_null(std::size_t count) { return count > 0 ? json(count) : json(nullptr); }

void add_processors(json& facts, const fs::path& root) {
  const auto cpus = numbered(root / "sys/devices/system/cpu", "cpu");
  std::set<std::string> sockets, governors;
  std::set<std::pair<std::string, std::string>> cores;
  for (const auto& cpu : cpus) {
    const json governor = first_line(cpu / "cpufreq/scaling_governor");
    if (governor.is_string()) governors.insert(governor);
    const auto core = core_of(cpu);
    if (!core) continue;
    sockets.insert(core->first);
    cores.insert(*core);
  }
  json model = cpu_info(root, "model name");
  if (model.is_null()) model = cpu_info(root, "Processor");
  if (model.is_null()) model = cpu_info(root, "cpu");
  facts["cpu"] = model;
  facts["sockets"] = count_or_null(sockets.size());
  facts["cores"] = count_or_null(cores.size());
  facts["logical_cpus"] = count_or_null(cpus.size());
  facts["numa_nodes"] = count_or_null(numbered(root / "sys/devices/system/node", "node").size());
  std::string governor_list;
  for (const auto& governor : governors)
    governor_list += fmt::format("{}{}", governor_list.empty() ? "" : ",", governor);
  facts["governor"] = text_or_null(governor_list);
}

// On x86, guests of a hypervisor see a CPU flag. Null on other processors.
json virtualised(const fs::path& root) {
  const json flags = cpu_info(root, "flags");
  if (!flags.is_string()) return nullptr;
  return fmt::format(" {} ", flags.get<std::string>()).find(" hypervisor ") != std::string::npos;
}

// The value of KEY="value" in /etc/os-release. Null without such a line.
json os_release(const fs::path& root, const std::string& key) {
  std::ifstream in(root / "etc/os-release");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key) || line[key.size()] != '=') continue;
    std::string value = line.substr(key.size() + 1);
    std::erase(value, '"');
    return value.empty() ? json(nullptr) : json(value);
  }
  return nullptr;
}

json memory_bytes(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  if (in >> key >> kibibytes && key == "MemTotal:") return kibibytes * 1024;
  return nullptr;
}

// "always [madvise] never" -> "madvise"
json huge_pages(const fs::path& root) {
  const json line = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  if (!line.is_string()) return nullptr;
  const auto text = line.get<std::string>();
  const auto open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return nullptr;
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

json system_facts(const fs::path& root) {
  json facts;
  facts["host"] = text_or_null(host_name());
  add_processors(facts, root);
  utsname kernel{};
  const bool named = uname(&kernel) == 0;
  facts["architecture"] = named ? json(kernel.machine) : json(nullptr);
  facts["kernel"] = named ? json(kernel.release) : json(nullptr);
  facts["os"] = os_release(root, "PRETTY_NAME");
  facts["image"] = os_release(root, "IMAGE_VERSION");
  if (facts["image"].is_null()) facts["image"] = os_release(root, "BUILD_ID");
  facts["memory_bytes"] = memory_bytes(root);
  facts["transparent_huge_pages"] = huge_pages(root);
  facts["clock_source"] =
      first_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  facts["virtualised"] = virtualised(root);
  return facts;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

int bound_core(const fs::path& root) {
  const auto cpus = allowed_cpus();
  if (cpus.size() == 1) return cpus.front();
  const auto place_of = [&](int cpu) {
    return core_of(root / fmt::format("sys/devices/system/cpu/cpu{}", cpu));
  };
  const auto first = place_of(cpus.front());
  const bool is_one = first && std::all_of(cpus.begin(), cpus.end(),
                                           [&](int cpu) { return place_of(cpu) == first; });
  return is_one ? cpus.front() : -1;
}

}  // namespace longshore::bench
