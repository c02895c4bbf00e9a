// The recorded part of the environment. An allow-list selects it, because an environment also holds
// private values.
#pragma once

#include "facts/json.hpp"

namespace longshore::bench {

/// Variables of MPI, OpenSHMEM, UCX, OFI, OpenMP, Slurm and Longshore, by name. A value is masked
/// if its name looks like a secret. Variables that describe one start to the processes (rank,
/// sockets, job directories) are left out. `environment` is a null-terminated array of NAME=value.
[[nodiscard]] json recorded_environment(const char* const* environment);

/// Names of the loaded modules (LOADEDMODULES). Null without a module system.
[[nodiscard]] json loaded_modules();

}  // namespace longshore::bench
