// The main command: measures a pattern.
#pragma once

#include "commands/command_line.hpp"

#include <string>
#include <vector>

namespace longshore::bench {

/// Starts the ranks, sweeps over the variants, writes the records and prints the table. Returns the
/// exit status. Throws errors that occur before the ranks start. After an error of a rank,
/// transport threads returns runtime_failure here, and other transports end the process with this
/// status. `command_line` goes into the launch record.
[[nodiscard]] int measure(const request& asked, std::vector<std::string> command_line);

}  // namespace longshore::bench
