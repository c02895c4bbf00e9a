// The clock of the machine. Code above the transport layer asks its team instead (team::now): a
// transport may run on another clock, for instance the simulated one of a network simulator.
#pragma once

#include <ctime>

namespace longshore {

/// Seconds since some fixed moment, monotonic. Costs some 25 ns. clock_gettime and not std::chrono:
/// simulators replace the former and cannot see the latter.
[[nodiscard]] inline double monotonic_seconds() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace longshore
