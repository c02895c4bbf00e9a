// The command `longshore-bench gather --plan`: predicts memory and messages of the aggregating
// strategies on a machine with other numbers of ranks and nodes. Starts no ranks.
#pragma once

#include <span>

namespace longshore::bench {

/// Whether the arguments of the program request this command: `gather` first, and --plan anywhere.
[[nodiscard]] bool asks_for_gather_plan(std::span<const char* const> words);

/// Prints the predicted memory and messages of each strategy. Returns the exit status. `words` are
/// the arguments after the word "gather", with --plan among them.
int run_gather_plan_command(std::span<const char* const> words);

}  // namespace longshore::bench
