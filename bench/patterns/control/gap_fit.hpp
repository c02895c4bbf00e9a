// Fits the gaps of the LogGP model (loggp.cpp) to measured gaps between messages of several sizes.
#pragma once

#include <span>

namespace longshore::bench {

/// The shortest time between two messages of one size.
struct gap_of_size {
  double bytes, seconds;
};

struct fitted_gap {
  double per_message_seconds = 0;  ///< g of the model
  double per_byte_seconds = 0;     ///< G of the model
};

/// Fits the line g + (bytes - 1) G by least squares of relative errors, so that short messages
/// count as much as long messages. Ignores gaps of 0 or less, which were not measured. Returns
/// zeros for fewer than two sizes.
///
/// A processor that spends `overhead_seconds` per message cannot send faster than that. So the fit
/// leaves out gaps that are about as short as the overhead, if at least two other gaps are left. g
/// is then at least the overhead.
[[nodiscard]] fitted_gap fit_gaps(std::span<const gap_of_size> gaps, double overhead_seconds = 0);

}  // namespace longshore::bench
