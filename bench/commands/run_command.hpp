// Errors of the commands that start ranks.
#pragma once

#include "commands/exit_status.hpp"
#include "commands/started_processes.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

namespace longshore::bench {

/// Returns the exit status that `command` returns. Prints an exception by print_error(), and
/// returns its exit status. A text that standard output did not take, such as a full disk, is an
/// error, too.
template <class Command>
int run_command(const Command& command) {
  try {
    const int status = command();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    fmt::print(stderr, "longshore-bench: standard output cannot be written: {}\n",
               std::strerror(errno));
    return status == all_right ? runtime_failure : status;
  } catch (const error& e) {
    print_error(e.what());
    return status_of(e);
  } catch (const std::exception& e) {
    print_error(e.what());
    return runtime_failure;
  }
}

}  // namespace longshore::bench
