// From the gaps of messages of some sizes to the line that LogGP has for them.
#pragma once

#include <span>

namespace longshore::bench {

/// Seconds between messages of a size that follow each other as closely as they can.
struct gap_of_size {
  double bytes, seconds;
};

struct fitted_gap {
  double per_message_seconds = 0;  ///< g
  double per_byte_seconds = 0;     ///< G
};

/// The line g + (bytes - 1) G that has the least squares relative to the seconds, so that short messages count as much as long
/// ones. Gaps that are not above 0 were not measured; fewer than two sizes have no line, and then both are 0.
[[nodiscard]] fitted_gap fit_gaps(std::span<const gap_of_size> gaps);

}  // namespace longshore::bench
