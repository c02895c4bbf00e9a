// The command --list: patterns, factors and levels, and the levels that this build can run.
#pragma once

#include "harness/pattern.hpp"

#include <span>

namespace longshore::bench {

/// The JSON object of docs/reference/bench.md.
[[nodiscard]] json listing(std::span<const pattern> patterns);

}  // namespace longshore::bench
