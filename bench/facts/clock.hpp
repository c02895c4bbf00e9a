// The clock of a launch: its resolution and the cost of reading it.
#pragma once

#include <longshore/transport/team.hpp>

namespace longshore::bench {

struct clock_facts {
  double resolution_seconds = 0;  ///< smallest step between readings; 0 if unknown
  double overhead_seconds = 0;    ///< cost of one reading
};

/// Collective. Measures the clock of each rank. All ranks get the largest values.
[[nodiscard]] clock_facts measure_clock(team& team);

}  // namespace longshore::bench
