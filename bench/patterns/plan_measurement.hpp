// The base of the measurements of plans. The library times the phases of their exchanges.
#pragma once

#include <longshore/exchange/phase_clock.hpp>

#include "harness/measurement.hpp"

#include <cstddef>

namespace longshore::bench {

/// Collective. The maximum and the mean over the ranks, for records.
[[nodiscard]] inline json max_and_mean(team& ranks, std::size_t of_this_rank) {
  const auto sum = ranks.allreduce_value(of_this_rank, reduction::sum);
  return {{"max", ranks.allreduce_value(of_this_rank, reduction::max)},
          {"mean", static_cast<double>(sum) / ranks.size()}};
}

class plan_measurement : public measurement {
 public:
  explicit plan_measurement(team& ranks) : clock_(longshore::detail::phase_clock::of(ranks)) {}

  void time_phases(bool on) final { clock_.turn(on); }
  /// Means over the operations since time_phases(true).
  [[nodiscard]] phase_seconds phases() const final {
    phase_seconds seconds;
    for (std::size_t i = 0; i < clock_.names.size() && clock_.exchanges() > 0; ++i)
      seconds.emplace_back(clock_.names[i],
                           clock_.seconds(i) / static_cast<double>(clock_.exchanges()));
    return seconds;
  }

 private:
  longshore::detail::phase_clock& clock_;
};

}  // namespace longshore::bench
