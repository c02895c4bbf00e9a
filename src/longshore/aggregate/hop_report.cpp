#include <longshore/aggregate/hop_report.hpp>

#include <algorithm>
#include <cmath>

namespace longshore {
namespace {

constexpr double first_bucket_seconds = 1e-9;
constexpr double buckets_per_octave = 4;

}  // namespace

void time_histogram::add(double seconds) noexcept {
  const double steps =
      seconds <= first_bucket_seconds ? 0 : std::ceil(buckets_per_octave * std::log2(seconds / first_bucket_seconds));
  ++counts_[static_cast<std::size_t>(std::min(steps, static_cast<double>(buckets - 1)))];
  ++count_;
}

std::optional<double> time_histogram::percentile(double fraction) const noexcept {
  if (count_ == 0) return std::nullopt;
  const auto wanted = static_cast<std::uint64_t>(std::max(1.0, std::ceil(fraction * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  int bucket = 0;
  for (; bucket < buckets - 1; ++bucket)
    if ((seen += counts_[static_cast<std::size_t>(bucket)]) >= wanted) break;
  return first_bucket_seconds * std::exp2(bucket / buckets_per_octave);
}

traffic engine_report::sent() const noexcept {
  traffic all;
  for (const auto& hop : hops) {
    all.messages += hop.messages;
    all.wire_bytes += hop.wire_bytes;
    all.offnode_bytes += hop.offnode_bytes;
  }
  return all;
}

}  // namespace longshore
