// One variant of pattern halo, made ready.
#pragma once

#include "benchmark.hpp"

#include <memory>

namespace longshore::bench {

/// Collective. REQUIRES: a variant that the pattern can run.
[[nodiscard]] std::unique_ptr<measurement> measure_halo(team& team, const variant& what, const launch_facts& facts);

}  // namespace longshore::bench
