// A test that fails on purpose, on one rank of one layout. The tests transport.failure.* run it to
// check that such a failure is reported.
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
