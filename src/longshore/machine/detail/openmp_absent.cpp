// Replaces openmp_tasks.cpp in a build without OpenMP.
#include <longshore/core/error.hpp>
#include <longshore/machine/detail/openmp_tasks.hpp>

namespace longshore::detail {

std::optional<std::string> why_no_openmp_tasks(int) {
  return "tasks openmp: this build has no OpenMP: install it for your compiler (part of g++; "
         "Debian's clang needs libomp-dev) and build Longshore again, with LONGSHORE_OPENMP=ON";
}

std::unique_ptr<task_layer> make_openmp_tasks(const task_options&) {
  fail(errc::unsupported, "{}", *why_no_openmp_tasks(0));
}

}  // namespace longshore::detail
