// All patterns of the program. Each pattern is defined in the folder of its name.
#pragma once

#include "harness/pattern.hpp"

namespace longshore::bench {

[[nodiscard]] pattern stream_pattern();
[[nodiscard]] pattern gather_pattern();
[[nodiscard]] pattern halo_pattern();
[[nodiscard]] pattern sort_pattern();
[[nodiscard]] pattern ghost_pattern();
[[nodiscard]] pattern control_pattern();

}  // namespace longshore::bench
