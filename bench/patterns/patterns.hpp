// All patterns of the program. Each pattern is defined in the folder of its name.
#pragma once

#include "harness/pattern.hpp"

#include <vector>

namespace longshore::bench {

[[nodiscard]] pattern stream_pattern();
[[nodiscard]] pattern gather_pattern();
[[nodiscard]] pattern halo_pattern();
[[nodiscard]] pattern sort_pattern();
[[nodiscard]] pattern ghost_pattern();
[[nodiscard]] pattern control_pattern();

/// In the order of --help and --list.
[[nodiscard]] inline std::vector<pattern> all_patterns() {
  return {stream_pattern(), gather_pattern(), halo_pattern(),
          sort_pattern(),   ghost_pattern(),  control_pattern()};
}

}  // namespace longshore::bench
