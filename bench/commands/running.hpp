// How a command of longshore-bench runs and ends: exit statuses, errors, and the output of commands
// that plan. Asks the launcher about processes, because the transport has not been started.
#pragma once

#include <longshore/core/error.hpp>

#include "facts/json.hpp"

#include <functional>
#include <string>

namespace longshore::bench {

/// Scripts rely on these values. Transports that end a process after a failure use the status of
/// runtime_failure, too.
enum exit_status : int {
  all_right = 0,     ///< all variants that ran were verified, or were not to be verified
  wrong_result = 1,  ///< at least one result was wrong
  nothing_ran = 2,   ///< a wrong command line, or no variant can run here
  runtime_failure = 3
};

/// Returns the exit status that `command` returns. Prints an exception by print_error(), after
/// `prefix`, and returns its exit status. A text that standard output did not take, such as on a
/// full disk, is an error, too.
[[nodiscard]] int run_command(const std::function<int()>& command, const std::string& prefix = "");

/// Prints a text on the first process.
int print_text(const std::string& text);

/// Prints the table of a plan, and writes the plan if a file is named. If the file is "-", the plan
/// goes to standard output and the table to standard error.
int print_plan(const std::string& json_file, const json& plan, const std::string& table);

/// Whether this process prints messages: true for the process of rank 0, and without a launcher.
[[nodiscard]] bool is_first_process();

/// Number of processes that the launcher started; 0 without a launcher.
[[nodiscard]] int processes_launched();

/// Whether a launcher decides the number of ranks, if they use `transport`; "" means not chosen.
[[nodiscard]] bool ranks_are_processes(const std::string& transport);

/// Prints an error message on the first process. All other processes wait for two seconds: some
/// launchers end all processes when one ends with an error, and the message would be lost.
void print_error(const std::string& message);

}  // namespace longshore::bench
