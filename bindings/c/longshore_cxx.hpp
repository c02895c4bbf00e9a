// For C++ programs with parts in C or Fortran: handles of the C interface for teams of C++.
#pragma once

#include <longshore.h>

#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore {

struct end_c_team {
  void operator()(longshore_team* handle) const;
};
/// A handle for a team. Destroying it is collective and frees all objects made with it, but not the
/// team.
using c_team = std::unique_ptr<longshore_team, end_c_team>;
/// Local. The team must outlive the handle.
[[nodiscard]] c_team make_c_team(team& ranks);

/// Throws an error with this code and the message of this thread if `code` is not LONGSHORE_OK.
void check_c(int code);

}  // namespace longshore
