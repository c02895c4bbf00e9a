// Sums and differences of statistics, and a histogram of times whose buckets grow by a constant
// factor.
#include <longshore/aggregate/engine_stats.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace longshore {
namespace {

// Bucket b counts times up to first_bucket_seconds * 2^(b / buckets_per_octave).
constexpr double first_bucket_seconds = 1e-9;
constexpr double buckets_per_octave = 4;

}  // namespace

void time_histogram::add(double seconds) noexcept {
  const double steps =
      seconds <= first_bucket_seconds
          ? 0
          : std::ceil(buckets_per_octave * std::log2(seconds / first_bucket_seconds));
  ++counts_[static_cast<std::size_t>(std::min(steps, static_cast<double>(buckets - 1)))];
}

std::uint64_t time_histogram::count() const noexcept {
  return static_cast<std::uint64_t>(
      std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}));
}

std::optional<double> time_histogram::percentile(double fraction) const noexcept {
  const std::uint64_t samples = count();
  if (samples == 0) return std::nullopt;
  const auto wanted =
      static_cast<std::int64_t>(std::max(1.0, std::ceil(fraction * static_cast<double>(samples))));
  std::int64_t seen = 0;
  std::size_t bucket = 0;
  for (; bucket < buckets - 1; ++bucket)
    if ((seen += counts_[bucket]) >= wanted) break;
  return first_bucket_seconds * std::exp2(static_cast<double>(bucket) / buckets_per_octave);
}

std::span<std::int64_t, time_histogram::buckets> time_histogram::counts() noexcept {
  return counts_;
}

time_histogram& time_histogram::operator+=(const time_histogram& more) noexcept {
  std::transform(counts_.begin(), counts_.end(), more.counts_.begin(), counts_.begin(),
                 std::plus<>());
  return *this;
}

time_histogram& time_histogram::operator-=(const time_histogram& earlier) noexcept {
  std::transform(counts_.begin(), counts_.end(), earlier.counts_.begin(), counts_.begin(),
                 std::minus<>());
  return *this;
}

traffic engine_stats::sent() const noexcept {
  traffic total;
  for (const auto& hop : hops) total += hop.sent();
  return total;
}

engine_stats& engine_stats::operator+=(const engine_stats& more) {
  hops.resize(std::max(hops.size(), more.hops.size()));
  for (std::size_t h = 0; h < more.hops.size(); ++h)
    for (const auto counter : hop_counters) hops[h].*counter += more.hops[h].*counter;
  seconds_without_slot += more.seconds_without_slot;
  seconds_nothing_arrived += more.seconds_nothing_arrived;
  latency += more.latency;
  return *this;
}

engine_stats engine_stats::operator-(const engine_stats& earlier) const {
  engine_stats since = *this;
  for (std::size_t h = 0; h < earlier.hops.size(); ++h)
    for (const auto counter : hop_counters) since.hops[h].*counter -= earlier.hops[h].*counter;
  since.seconds_without_slot -= earlier.seconds_without_slot;
  since.seconds_nothing_arrived -= earlier.seconds_nothing_arrived;
  since.latency -= earlier.latency;
  return since;
}

exchange_stats& exchange_stats::operator+=(const exchange_stats& more) {
  requests += more.requests;
  replies += more.replies;
  return *this;
}

exchange_stats exchange_stats::operator-(const exchange_stats& earlier) const {
  return {requests - earlier.requests, replies - earlier.replies};
}

}  // namespace longshore
