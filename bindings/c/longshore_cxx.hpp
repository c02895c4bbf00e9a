// For C++ programs with parts in C or Fortran: the handle by which these know a team of C++.
#pragma once

#include <longshore.h>

#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore {

struct end_c_team {
  void operator()(longshore_team* handle) const;
};
/// Its end, which is collective, frees what was made with it; the team itself stays.
using c_team = std::unique_ptr<longshore_team, end_c_team>;
/// Local. The team must outlive it.
[[nodiscard]] c_team make_c_team(team& ranks);

/// Throws the error of a call that gave a code: errc and message are those of longshore.h.
void check_c(int code);

}  // namespace longshore
