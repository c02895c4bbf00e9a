// What --list prints: patterns, factors and levels, and what of them this build can do.
#pragma once

#include "benchmark.hpp"

#include <span>

namespace longshore::bench {

/// One JSON object; docs/reference/bench.md says what is in it.
[[nodiscard]] json listing(std::span<const pattern> patterns);

}  // namespace longshore::bench
