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

TEST(GapFit, gaps_as_short_as_the_overhead_are_no_part_of_the_line) {
  // g = 0.1 us and G = 1 ns, behind a processor that spends 1 us per message.
  const std::vector<gap_of_size> bounded{{8, 1e-6}, {64, 1e-6}, {4001, 4.1e-6}, {10'001, 10.1e-6}};
  const auto line = fit_gaps(bounded, 1e-6);
  EXPECT_NEAR(line.per_byte_seconds, 1e-9, 1e-18);
  EXPECT_EQ(line.per_message_seconds, 1e-6);
  const std::vector<gap_of_size> longer{{1, 2e-6}, {1001, 3e-6}};
  EXPECT_NEAR(fit_gaps(longer, 1e-6).per_message_seconds, 2e-6, 1e-15);
  EXPECT_GT(fit_gaps(longer, 2.0e-6).per_byte_seconds, 0);  // one size is left: all count
}

TEST(GapFit, of_one_size_is_no_line) {
  const std::vector<gap_of_size> equal{{8, 1e-6}, {8, 1e-6}};
  EXPECT_EQ(fit_gaps(equal).per_byte_seconds, 0);
  EXPECT_EQ(fit_gaps({}).per_message_seconds, 0);
}

}  // namespace
}  // namespace longshore::bench
