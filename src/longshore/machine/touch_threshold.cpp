#include <longshore/core/clock.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/machine/touch_threshold.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace longshore {
namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

void touch(volatile std::byte* data, std::size_t begin, std::size_t end, std::size_t page) {
  for (std::size_t at = begin; at < end; at += page) data[at] = std::byte{1};
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Each round takes new memory: pages are fresh only once, and between two rounds the tasks have time to fall asleep, as they have
// before a first touch in a program.
template <class Touch>
double median_seconds(std::size_t bytes, const Touch& touch_all_of) {
  constexpr int rounds = 7;
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    const pages memory(bytes);
    const double start = monotonic_seconds();
    touch_all_of(memory.data());
    seconds.push_back(monotonic_seconds() - start);
  }
  return median(seconds);
}

}  // namespace

touch_times measure_touch(tasks& workers) {
  const std::size_t page = page_bytes(), count = static_cast<std::size_t>(workers.count());
  touch_times times{.small_bytes = count * page, .large_bytes = std::max(std::size_t{2} << 20, 64 * count * page)};
  const auto by_all = [&](std::size_t bytes) {
    return median_seconds(bytes, [&](std::byte* data) {
      workers.for_each_range(
          bytes, [&](std::size_t begin, std::size_t end) { touch(data, begin, end, page); }, page);
    });
  };
  times.small_by_all_seconds = by_all(times.small_bytes);
  times.large_by_all_seconds = by_all(times.large_bytes);
  times.large_by_one_seconds =
      median_seconds(times.large_bytes, [&](std::byte* data) { touch(data, 0, times.large_bytes, page); });
  return times;
}

std::size_t touch_threshold_bytes(const touch_times& times) noexcept {
  // By one: a n. By all: s + b n, through the two sizes measured. They meet at n = s / (a - b).
  const auto small = static_cast<double>(times.small_bytes), large = static_cast<double>(times.large_bytes);
  const double one = times.large_by_one_seconds / large;
  const double all = std::max(0.0, (times.large_by_all_seconds - times.small_by_all_seconds) / (large - small));
  const double start = std::max(0.0, times.small_by_all_seconds - all * small);
  if (!(all < 0.95 * one)) return never;
  const double meet = start / (one - all);
  return meet < 1e18 ? static_cast<std::size_t>(meet) : never;
}

std::size_t measured_touch_threshold_bytes(tasks& workers) {
  return workers.count() == 1 ? never : touch_threshold_bytes(measure_touch(workers));
}

}  // namespace longshore
