// The time in which a core changes from a rank that waits to another.
#pragma once

#include <longshore/transport/team.hpp>

namespace longshore::bench {

/// Collective. Seconds, on rank 0. 0 if ranks 0 and 1 cannot share a core, or where time is
/// computed.
[[nodiscard]] double measure_core_switch(team& team);

}  // namespace longshore::bench
