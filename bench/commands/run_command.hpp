// Errors of the commands that start ranks.
#pragma once

#include "commands/exit_status.hpp"
#include "commands/started_processes.hpp"

#include <exception>

namespace longshore::bench {

/// Returns the exit status that `command` returns. Prints an exception by print_error(), and
/// returns its exit status.
template <class Command>
int run_command(const Command& command) {
  try {
    return command();
  } catch (const error& e) {
    print_error(e.what());
    return status_of(e);
  } catch (const std::exception& e) {
    print_error(e.what());
    return runtime_failure;
  }
}

}  // namespace longshore::bench
