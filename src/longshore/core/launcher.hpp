// What a launcher, such as mpirun or srun, tells each process that it starts: its rank, and the
// number of processes. They are environment variables, so they are known before a library starts.
#pragma once

#include <optional>
#include <string_view>

namespace longshore {

/// The processes that a launcher started, as one of them knows them.
struct launched_processes {
  int rank = 0;
  int count = 0;              ///< 0 if the launcher does not tell
  const char* variable = "";  ///< the variable that has `count`, else the variable of the rank
};

/// The launch of this process; nothing without a launcher. A single task of Slurm is no launch: a
/// shell of `srun --pty` has the variables of one.
[[nodiscard]] std::optional<launched_processes> launched();

/// Throws errc::usage if the launcher started several processes, but `library` sees `seen` = 1: the
/// launcher then belongs to another library, and each process would run alone.
void require_launch_of(std::string_view library, int seen);

}  // namespace longshore
