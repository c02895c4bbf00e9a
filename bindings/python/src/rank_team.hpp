// The team as Python sees it, and how a run starts: by run(), or by joining one.
#pragma once

#include "membership.hpp"

#include <nanobind/nanobind.h>

#include <memory>

namespace longshore::python {

namespace nb = nanobind;

/// The class Team.
struct rank_team {
  std::shared_ptr<membership> members;

  [[nodiscard]] team& ranks() const { return members->ranks(); }
};

/// The team of this rank inside run(); outside that of all processes under an MPI launcher, else
/// the calling thread alone.
[[nodiscard]] rank_team world();
/// That team for None. Throws TypeError for what is no Team.
[[nodiscard]] rank_team team_or_world(nb::handle team);

void bind_team(nb::module_& module);
void bind_run(nb::module_& module);

}  // namespace longshore::python
