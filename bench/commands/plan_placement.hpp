// The command `longshore-bench placement`: the cost of placements of a grid of ranks on a machine.
// Starts no ranks.
#pragma once

#include <span>

namespace longshore::bench {

/// Prints the plan for the arguments after "placement"; returns the exit status.
[[nodiscard]] int plan_placement(std::span<const char* const> words);

}  // namespace longshore::bench
