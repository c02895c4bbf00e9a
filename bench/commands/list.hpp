// The command --list: patterns, factors and levels, and which of them this build can run.
#pragma once

#include "harness/pattern.hpp"

#include <span>

namespace longshore::bench {

/// One JSON object, described in docs/reference/bench.md.
[[nodiscard]] json listing(std::span<const pattern> patterns);

}  // namespace longshore::bench
