// Reports objects that a program destroys, or uses, after the end of their team.
#include <longshore/transport/detail/team_bound.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/failing_exit.hpp>

#include <atomic>
#include <cstdio>

namespace longshore::detail {
bool team_watch::reports_end(const char* kind) const noexcept {
  if (!lifetime_.expired()) return false;
  static std::atomic<bool> is_reported = false;
  if (!is_reported.exchange(true)) {
    std::fprintf(stderr,
                 "longshore: %s was destroyed after its team, and its memory is lost: destroy "
                 "plans, arrays and channels before the team ends (in C++, inside the function "
                 "that run() calls)\n",
                 kind);
    fail_at_exit(runtime_failure_status);
  }
  return true;
}

void team_watch::throw_for_ended_team(const char* kind) {
  fail(errc::usage,
       "{} is used after the end of its team: use it before the team ends (in C++, inside the "
       "function that run() calls)",
       kind);
}

void throw_for_empty(const char* what) {
  fail(errc::usage, "{} is empty, or was moved from: assign a plan before you use it", what);
}

}  // namespace longshore::detail
