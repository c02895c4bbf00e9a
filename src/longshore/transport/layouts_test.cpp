// A failure on purpose, for the tests of the tests (transport.failure.*): in one layout of several,
// on one rank.
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

TEST(Layouts, DISABLED_fail_on_the_last_of_three_ranks) {
  testing::spmd([](team& team) {
    EXPECT_FALSE(team.size() == 3 && team.rank() == 2)
        << "rank " << team.rank() << " of " << team.size() << " on " << team.nodes().node_count()
        << " nodes";
  });
}

}  // namespace
}  // namespace longshore
