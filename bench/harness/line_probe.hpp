// The line probe: how long one cache line takes to the core of a neighbour and back. A hypervisor
// can move the cores of a virtual machine apart, and all figures within a node change. Records have
// this time (docs/reference/records.md), so that a reader sees the cause.
#pragma once

#include <longshore/transport/team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace longshore::bench {

/// Seconds of a round trip of one cache line, over the repetitions of a variant.
struct cache_line_seconds {
  double median = 0, p10 = 0, p90 = 0;
};

/// The probe of one rank. The ranks of a node form pairs: the first with the second, the third with
/// the fourth. The last of an odd number has no partner.
class line_probe {
 public:
  /// Upper bound of the probe's symmetric memory on a rank.
  static constexpr std::size_t symmetric_bytes = std::size_t{1} << 16;

  /// Collective. Whether there is a pair, and no rank shares its core with another one.
  [[nodiscard]] static bool is_useful(team& ranks);

  /// Collective. REQUIRES: is_useful().
  explicit line_probe(team& ranks);

  /// The two ranks of a pair call this together. The line makes 10 round trips, of 0.1 to 0.5 us
  /// each. The first rank of the pair gets the seconds of the shortest one, or 0 if the two ranks
  /// did not run at the same time. All other ranks get 0.
  [[nodiscard]] double measure();

  /// Collective. `of_this_rank`: the results of measure(), one per repetition. The value of a
  /// repetition is the median over the pairs of all nodes. Nothing if all values are 0.
  [[nodiscard]] std::optional<cache_line_seconds> over_pairs(
      std::span<const double> of_this_rank) const;

 private:
  // The number of the latest trip, on a line of its own.
  using trip_number = std::atomic<std::uint64_t>;

  // Waits for this trip, or a later one, and returns its number.
  [[nodiscard]] std::uint64_t await_trip(std::uint64_t least);

  team& team_;
  int partner_ = -1;  // -1: none
  std::unique_ptr<segment> memory_;
  // Each rank polls its own line, into which its partner writes.
  trip_number* own_line_;
  trip_number* partner_line_ = nullptr;
  std::uint64_t trip_ = 0;
};

}  // namespace longshore::bench
