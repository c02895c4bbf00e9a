// Times the first write to fresh pages by one thread and by all tasks, and computes the size at
// which both take equally long.
#include <longshore/stream/detail/first_touch_threshold.hpp>

#include <longshore/core/clock.hpp>
#include <longshore/machine/pages.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <ctime>
#include <limits>

namespace longshore::detail {
namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

void touch(volatile std::byte* data, std::size_t begin, std::size_t end, std::size_t page) {
  for (std::size_t at = begin; at < end; at += page) data[at] = std::byte{1};
}

// Returns the minimum of some repetitions, because other load on the machine only adds time. Before
// each repetition, MADV_DONTNEED makes the pages fresh again. A pause lets the tasks fall asleep,
// as they do before a first touch in a program.
template <class Touch>
double shortest_seconds(const pages& memory, const Touch& touch_all) {
  constexpr int repetitions = 7;
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 200'000};
  double shortest = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    madvise(memory.data(), memory.size_bytes(), MADV_DONTNEED);
    nanosleep(&pause, nullptr);
    const double start = monotonic_seconds();
    touch_all();
    shortest = std::min(shortest, monotonic_seconds() - start);
  }
  return shortest;
}

}  // namespace

first_touch_times measure_first_touch(tasks& workers) {
  const std::size_t page = page_bytes(), count = static_cast<std::size_t>(workers.count());
  first_touch_times times{.small_bytes = count * page,
                          .large_bytes = std::max(std::size_t{1} << 20, 64 * count * page)};
  const pages memory(times.large_bytes);
  const auto parallel_seconds = [&](std::size_t bytes) {
    return shortest_seconds(memory, [&] {
      workers.for_each_range(
          bytes,
          [&](std::size_t begin, std::size_t end) { touch(memory.data(), begin, end, page); },
          page);
    });
  };
  times.small_parallel_seconds = parallel_seconds(times.small_bytes);
  times.large_parallel_seconds = parallel_seconds(times.large_bytes);
  times.large_serial_seconds =
      shortest_seconds(memory, [&] { touch(memory.data(), 0, times.large_bytes, page); });
  return times;
}

std::size_t first_touch_threshold_bytes(const first_touch_times& times) noexcept {
  // For n bytes, one thread takes n x serial seconds. All tasks take start + n x parallel seconds.
  // The two measured sizes give start and parallel. The times are equal at n = start / (serial -
  // parallel).
  const auto small = static_cast<double>(times.small_bytes),
             large = static_cast<double>(times.large_bytes);
  const double serial = times.large_serial_seconds / large;
  const double parallel = std::max(
      0.0, (times.large_parallel_seconds - times.small_parallel_seconds) / (large - small));
  const double start = std::max(0.0, times.small_parallel_seconds - parallel * small);
  constexpr double max_share_of_serial = 0.95;  // a smaller gain may be chance
  if (!(parallel < max_share_of_serial * serial)) return never;
  const double bytes = start / (serial - parallel);
  // No memory has 1e18 bytes. The conversion of a number of 2^64 or more would be undefined.
  return bytes < 1e18 ? static_cast<std::size_t>(bytes) : never;
}

std::size_t measured_first_touch_threshold_bytes(tasks& workers) {
  return workers.count() == 1 ? never : first_touch_threshold_bytes(measure_first_touch(workers));
}

}  // namespace longshore::detail
