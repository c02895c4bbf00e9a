// Speeds of memory and network by the size of the data. A pattern whose data lie in a cache is
// faster than a copy of large buffers. So the record of kernel copy has speeds for many sizes, and
// the study tool compares each figure with the speeds at its own size.
#pragma once

#include <longshore/transport/team.hpp>

#include "facts/json.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace longshore::bench {

/// The longest message that shows the speed of the network.
constexpr std::size_t longest_network_message = std::size_t{1} << 22;
/// The symmetric memory that measure_memory_speeds() needs on a rank: for these messages, for what
/// the neighbours read, and for channels.
constexpr std::size_t memory_speeds_symmetric_bytes = 4 * longest_network_message;

/// Collective. Each rank has two buffers of `bytes` bytes, and may overwrite the second one. All
/// ranks measure together. Returns "speeds" of docs/reference/records.md. Takes some 0.5 s,
/// between nodes up to 3 s more.
[[nodiscard]] json measure_memory_speeds(team& ranks, const std::byte* from, std::byte* to,
                                         std::size_t bytes);

/// The number of the cache line at place `i` of an order that no prefetcher follows. In 2^bits
/// successive places, each of 2^bits lines has one place.
[[nodiscard]] constexpr std::size_t scattered_line(std::size_t i, int bits) {
  const std::size_t mask = (std::size_t{1} << bits) - 1;
  std::size_t line = (i * 0x9e3779b97f4a7c15) & mask;
  line ^= line >> (bits / 2);
  return (line * 0xd1342543de82ef95) & mask;
}

/// Collective. The shortest of some tries. Every try begins with prepare(), which is not timed. The
/// time of a try is that of the slowest rank.
template <class Run, class Prepare>
double shortest_seconds(team& ranks, int tries, const Run& run, const Prepare& prepare) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries; ++i) {
    prepare();
    ranks.barrier();
    const double start = ranks.now();
    run();
    best = std::min(best, ranks.allreduce_value(ranks.now() - start, reduction::max));
  }
  return best;
}
template <class Run>
double shortest_seconds(team& ranks, int tries, const Run& run) {
  return shortest_seconds(ranks, tries, run, [] {});
}

}  // namespace longshore::bench
