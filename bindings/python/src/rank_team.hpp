// The class Team of Python, and the functions that start or join a run.
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

/// Inside of run(), the team of this rank. Outside of run(), the team of all processes under an MPI
/// launcher; without a launcher, a team of the calling thread alone.
[[nodiscard]] rank_team world();
/// The given Team, or world() for None. Throws TypeError for other objects.
[[nodiscard]] rank_team team_or_world(nb::handle team);

}  // namespace longshore::python
