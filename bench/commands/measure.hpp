// Measures a pattern: one launch, from the start of the ranks to the table.
#pragma once

#include "commands/command_line.hpp"

#include <string>
#include <vector>

namespace longshore::bench {

/// Starts the ranks, sweeps over the variants, writes the records and prints the table. Returns the
/// exit status. Throws errors that occur before the ranks start. Later errors end the process.
[[nodiscard]] int measure(const request& asked, std::vector<std::string> command_line);

}  // namespace longshore::bench
