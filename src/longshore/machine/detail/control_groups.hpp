// The control groups of this process. Any of these groups may limit a container or a job.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace longshore::detail {

struct control_group {
  std::filesystem::path folder;
  int version = 2;
};

/// Returns the control group of this process for a controller ("cpu", "memory"), and the ancestors
/// of that group, in versions 1 and 2. In a container the path may be a path of the host. Then its
/// folders do not exist, and only the root group has values. Tests pass other roots.
[[nodiscard]] std::vector<control_group> control_groups(const std::string& controller,
                                                        const std::filesystem::path& root = "/");

/// Returns the smallest quota of these groups, in cores; infinity if no group has a quota.
[[nodiscard]] double quota_cores(const std::vector<control_group>& groups);

}  // namespace longshore::detail
