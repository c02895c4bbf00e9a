// The recorded part of the environment: an allow-list, because an environment also holds private
// values.
#pragma once

#include "facts/json.hpp"

namespace longshore::bench {

/// Variables of MPI, OpenSHMEM, UCX, OFI, OpenMP, Slurm and Longshore, by name. Values of names
/// that look like secrets are masked. Variables by which a launcher informs its processes about one
/// start (ranks, sockets, job directories) are left out. `environment` is a null-terminated array
/// of NAME=value.
[[nodiscard]] json recorded_environment(const char* const* environment);

/// Names of the loaded modules (LOADEDMODULES), or null where there is no module system.
[[nodiscard]] json loaded_modules();

}  // namespace longshore::bench
