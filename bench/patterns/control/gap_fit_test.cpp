// Tests the line through the gaps between messages.
#include "patterns/control/gap_fit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace longshore::bench {
namespace {

TEST(GapFit, finds_the_line_through_exact_gaps) {
  const std::vector<gap_of_size> exact{{1, 2e-6}, {1001, 3e-6}, {100'001, 102e-6}, {64, 0}};
  const auto line = fit_gaps(exact);
  EXPECT_NEAR(line.per_message_seconds, 2e-6, 1e-15);
  EXPECT_NEAR(line.per_byte_seconds, 1e-9, 1e-18);
}

TEST(GapFit, counts_short_messages_as_much_as_long_ones) {
  // The gap of the longest message is twice that of the line. Without weights this gap would
  // dominate, and g would be far below 0.
  const std::vector<gap_of_size> bent{{1, 2e-6}, {1001, 3e-6}, {2001, 4e-6}, {1'000'001, 2004e-6}};
  const auto line = fit_gaps(bent);
  EXPECT_GT(line.per_message_seconds, 1e-6);
  EXPECT_LT(line.per_message_seconds, 3e-6);
}

TEST(GapFit, of_one_size_is_no_line) {
  const std::vector<gap_of_size> equal{{8, 1e-6}, {8, 1e-6}};
  EXPECT_EQ(fit_gaps(equal).per_byte_seconds, 0);
  EXPECT_EQ(fit_gaps({}).per_message_seconds, 0);
}

}  // namespace
}  // namespace longshore::bench
