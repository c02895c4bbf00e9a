// The command `longshore-bench placement`: predicts the traffic of a halo exchange between distant
// ranks for several placements of the ranks in their grid, and finds the best placement. Starts no
// ranks.
#pragma once

#include <span>

namespace longshore::bench {

/// Prints the compared placements and the options of longshore-bench that select the best
/// placement. Returns the exit status. `words` are the arguments after the word "placement".
[[nodiscard]] int run_placement_command(std::span<const char* const> words);

}  // namespace longshore::bench
