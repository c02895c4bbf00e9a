// The clock of a launch: its resolution and the cost of reading it.
#pragma once

#include <longshore/transport/team.hpp>

namespace longshore::bench {

struct clock_facts {
  double resolution_seconds = 0;  ///< smallest step between two readings in a row
  double overhead_seconds = 0;    ///< of one reading
};

/// Collective. Measures the clock of the team. All ranks get the values of the coarsest clock.
[[nodiscard]] clock_facts measure_clock(team& team);

}  // namespace longshore::bench
