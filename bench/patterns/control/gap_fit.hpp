// Fits the gaps of the LogGP model to measured gaps between messages of some sizes.
#pragma once

#include <span>

namespace longshore::bench {

/// Smallest seconds between messages of one size.
struct gap_of_size {
  double bytes, seconds;
};

struct fitted_gap {
  double per_message_seconds = 0;  ///< g
  double per_byte_seconds = 0;     ///< G
};

/// Fits the line g + (bytes - 1) G by least squares of relative errors, so that short messages
/// count as much as long ones. Ignores gaps of 0 or less, which were not measured. Both numbers are
/// 0 for fewer than two sizes.
[[nodiscard]] fitted_gap fit_gaps(std::span<const gap_of_size> gaps);

}  // namespace longshore::bench
