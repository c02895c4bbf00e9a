// A launcher, such as mpirun or srun, tells each process that it starts its rank and the number of
// processes. Both are in environment variables, so a process knows them before a library starts.
#pragma once

#include <optional>
#include <string_view>

namespace longshore {

/// What one of the processes that a launcher started knows of its launch.
struct launched_processes {
  int rank = 0;
  int count = 0;              ///< 0 if the launcher does not tell
  const char* variable = "";  ///< the variable that has `count`, else the variable of the rank
};

/// Returns the launch of this process, or nothing without a launcher. A single task of Slurm is not
/// a launch, because a shell of `srun --pty` has the variables of a single task.
[[nodiscard]] std::optional<launched_processes> launched();

/// Throws errc::usage if the launcher started several processes, but `library` sees `seen` = 1
/// process. The launcher then belongs to another library, and each process would run alone.
void require_launch_of(std::string_view library, int seen);

}  // namespace longshore
