// Passes a team of C++ to code in C or Fortran. For an existing longshore::team, make_c_team()
// makes the longshore_team* that the functions of longshore.h take.
#pragma once

#include <longshore.h>

#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore {

/// The deleter of c_team: destroys the handle.
struct end_c_team {
  void operator()(longshore_team* handle) const;
};
/// A handle for a team. Destroying the handle is collective and frees all objects made with the
/// handle, but not the team.
using c_team = std::unique_ptr<longshore_team, end_c_team>;
/// Local. The team must outlive the handle.
[[nodiscard]] c_team make_c_team(team& ranks);

/// Throws an error with this code and the message of this thread if `code` is not LONGSHORE_OK.
void check_c(int code);

}  // namespace longshore
