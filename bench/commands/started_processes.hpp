// Facts that a process gets from its launcher before the transport starts.
#pragma once

#include <string>

namespace longshore::bench {

/// Whether this process prints messages: the one of rank 0, or the only one.
[[nodiscard]] bool is_first_process();

/// How many processes the launcher started; 0 without a launcher.
[[nodiscard]] int processes_launched();

/// Prints an error message on the first process. The others wait for a while instead: some
/// launchers end all processes when one ends with an error, and the message would be lost.
void print_error(const std::string& message);

}  // namespace longshore::bench
