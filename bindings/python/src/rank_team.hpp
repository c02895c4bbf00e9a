// The class Team of Python, and the functions that start a run or join one.
#pragma once

#include "team_owner.hpp"

#include <nanobind/nanobind.h>

#include <memory>

namespace longshore::python {

namespace nb = nanobind;

/// The class Team.
struct rank_team {
  std::shared_ptr<team_owner> owner;

  [[nodiscard]] team& ranks() const { return owner->ranks(); }
};

/// Inside run(): the team of this rank. Outside, under an MPI launcher: the team of all processes.
/// Else: a team of the calling thread alone.
[[nodiscard]] rank_team world();
/// The given Team, or world() for None. Throws TypeError for anything else.
[[nodiscard]] rank_team team_or_world(nb::handle team);

void bind_team(nb::module_& module);
void bind_run(nb::module_& module);

}  // namespace longshore::python
