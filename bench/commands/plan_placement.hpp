// `longshore-bench placement`: what the placements of a grid of ranks cost on a machine, before anything runs there.
#pragma once

#include <span>

namespace longshore::bench {

/// Runs it with the words after "placement"; returns the exit status.
[[nodiscard]] int plan_placement(std::span<const char* const> words);

}  // namespace longshore::bench
