// Facts that the launcher gives to a process before the transport starts.
#pragma once

#include <string>

namespace longshore::bench {

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
