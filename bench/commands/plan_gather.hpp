// The command `longshore-bench gather --plan`: memory and messages of the aggregating strategies on
// another machine. Starts no ranks.
#pragma once

#include <span>

namespace longshore::bench {

/// Whether these words, which follow the name of the program, ask for a plan of gather.
[[nodiscard]] bool asks_to_plan_gather(std::span<const char* const> words);

/// Prints the plan for these words, which follow "gather". Returns the exit status.
int plan_gather(std::span<const char* const> words);

}  // namespace longshore::bench
