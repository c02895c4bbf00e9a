// Times many parallel regions without work, one directly after the other, and takes the median. The
// benchmark stream records the result.
#include <longshore/machine/empty_region.hpp>

#include <longshore/core/clock.hpp>

#include <algorithm>
#include <array>

namespace longshore {

double empty_region_seconds(tasks& workers) {
  constexpr int warm_ups = 20;
  std::array<double, 301> seconds;  // an odd number of samples has a middle one, the median
  for (int i = 0; i < warm_ups; ++i) workers.run([](int) {});
  for (double& duration : seconds) {
    const double start = monotonic_seconds();
    workers.run([](int) {});
    duration = monotonic_seconds() - start;
  }
  std::ranges::nth_element(seconds, seconds.begin() + seconds.size() / 2);
  return seconds[seconds.size() / 2];
}

}  // namespace longshore
