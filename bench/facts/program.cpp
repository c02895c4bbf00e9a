// Facts that the build knows about the program: bench/CMakeLists.txt defines macros for version,
// compiler and flags, and write_git_header.cmake writes the commit into longshore_git.hpp.
#include "facts/program.hpp"

#include <fmt/core.h>

#include <longshore_git.hpp>

namespace longshore::bench {

json program_facts() {
  const bool known = *git_commit != '\0';
  return {
      {"name", "longshore-bench"},
      {"version", LONGSHORE_VERSION},
      {"git", text_or_null(git_commit)},
      {"git_dirty", known ? json(git_dirty) : json(nullptr)},
      {"compiler", LONGSHORE_COMPILER},
      {"flags", LONGSHORE_FLAGS},
      {"build_type", text_or_null(LONGSHORE_BUILD_TYPE)},
  };
}

std::string version_text() {
  const std::string commit =
      *git_commit == '\0' ? "" : fmt::format(" ({}{})", git_commit, git_dirty ? ", changed" : "");
  return fmt::format("longshore-bench {}{}, {}, {}", LONGSHORE_VERSION, commit, LONGSHORE_COMPILER,
                     LONGSHORE_BUILD_TYPE);
}

}  // namespace longshore::bench
