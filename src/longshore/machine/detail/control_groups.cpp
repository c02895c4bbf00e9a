// Reads /proc/self/cgroup, whose lines are "number:controllers:/path". Version 2 has one line,
// without controllers.
#include <longshore/machine/detail/control_groups.hpp>

#include <algorithm>
#include <fstream>
#include <limits>

namespace longshore::detail {
namespace {

namespace fs = std::filesystem;

double cores_of(const control_group& group) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  double quota = 0, period = 0;
  bool is_read = false;
  if (group.version == 2) {
    std::ifstream file(group.folder / "cpu.max");  // the quota may be the word "max"
    is_read = static_cast<bool>(file >> quota >> period);
  } else {
    std::ifstream quota_file(group.folder / "cpu.cfs_quota_us"),
        period_file(group.folder / "cpu.cfs_period_us");
    is_read = quota_file >> quota && period_file >> period;
  }
  return is_read && quota > 0 && period > 0 ? quota / period : unlimited;
}

}  // namespace

std::vector<control_group> control_groups(const std::string& controller, const fs::path& root) {
  std::vector<control_group> groups;
  const fs::path top = root / "sys/fs/cgroup";
  const auto add = [&](const fs::path& of_controller, const fs::path& path, int version) {
    for (fs::path group = path.relative_path();; group = group.parent_path()) {
      groups.push_back({of_controller / group, version});
      if (group.empty()) break;
    }
  };
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = ',' + line.substr(first + 1, second - first - 1) + ',';
    if (names == ",,")
      add(top, line.substr(second + 1), 2);
    else if (names.find(',' + controller + ',') != std::string::npos)
      add(top / controller, line.substr(second + 1), 1);
  }
  return groups;
}

double quota_cores(const std::vector<control_group>& groups) {
  double fewest = std::numeric_limits<double>::infinity();
  for (const auto& group : groups) fewest = std::min(fewest, cores_of(group));
  return fewest;
}

}  // namespace longshore::detail
