// The machine's clock. Code above the transport layer calls team::now instead, because a transport
// may have another clock, such as the clock of a network simulator.
#pragma once

#include <longshore/core/detail/requirements.hpp>

#include <ctime>

namespace longshore {

/// Seconds since a fixed moment, monotonic. A call costs about 25 ns. The clock is clock_gettime
/// instead of std::chrono, because simulators can replace clock_gettime.
[[nodiscard]] inline double monotonic_seconds() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace longshore
