// The control groups of this process: limits of a container or a batch job may be at any of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace longshore::detail {

struct control_group {
  std::filesystem::path folder;
  int version = 2;
};

/// The control group of this process for a controller ("cpu", "memory") and its ancestors, of both
/// versions. A container may see the path of the host; then the folders of the path do not exist
/// here, and only the root has values. `root` is another place than "/" in tests.
[[nodiscard]] std::vector<control_group> control_groups(const std::string& controller,
                                                        const std::filesystem::path& root = "/");

/// Cores in the smallest quota of these groups; infinity without a quota.
[[nodiscard]] double quota_cores(const std::vector<control_group>& groups);

}  // namespace longshore::detail
