// Replaces tbb_tasks.cpp in a build without oneTBB.
#include <longshore/core/error.hpp>
#include <longshore/machine/detail/tbb_tasks.hpp>

namespace longshore::detail {

std::optional<std::string> why_no_tbb_tasks() {
  return "tasks tbb: this build has no oneTBB: install it (Debian: libtbb-dev) and build Longshore "
         "again, with LONGSHORE_TBB=ON";
}

std::unique_ptr<task_layer> make_tbb_tasks(const task_options&) {
  fail(errc::unsupported, "{}", *why_no_tbb_tasks());
}

}  // namespace longshore::detail
