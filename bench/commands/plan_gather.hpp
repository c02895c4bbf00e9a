// `longshore-bench gather --plan`: what the aggregating strategies would need and send on a machine that one is not on. Needs no ranks.
#pragma once

#include <span>

namespace longshore::bench {

/// Whether these words, what follows the program's name, ask for a plan of gather.
[[nodiscard]] bool asks_to_plan_gather(std::span<const char* const> words);

/// Prints the plan that these words, without "gather", ask for. Returns the exit status.
int plan_gather(std::span<const char* const> words);

}  // namespace longshore::bench
