// What of the environment is recorded: an allow-list, since an environment also holds what is nobody's business.
#pragma once

#include "facts/json.hpp"

namespace longshore::bench {

/// Variables of MPI, OpenSHMEM, UCX, OFI, OpenMP, Slurm and Longshore, by name. Values of names that look like secrets are
/// masked. What a launcher tells its own processes about this one start (ranks, sockets, job directories) is left out.
/// `environment` is a null-terminated array of NAME=value.
[[nodiscard]] json recorded_environment(const char* const* environment);

/// Names of the loaded modules (LOADEDMODULES), or null where there is no module system.
[[nodiscard]] json loaded_modules();

}  // namespace longshore::bench
