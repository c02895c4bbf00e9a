// Messages between nodes over MPI, posted once: whom a rank waits for while some have come.
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/detail/mpi/carriers.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::spmd;

// The ranks of a ring. One after the other comes late; its neighbours, which have heard of their
// other neighbour, name it.
TEST(PostedCarrier, the_neighbour_that_is_missing_is_named_whichever_it_is) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi" || team.size() < 3) return;
    const rank_grid grid(team, {.dimensions = 1, .ranks = {team.size(), 1, 1}});
    field<double> u(grid, {8, 1, 1}, halo_widths({2, 0, 0}, {2, 0, 0}));
    const halo_part part{u.memory(), u.widths()};
    const auto carriers = mpi::make_posted(
        grid, plan_rounds(halo_algorithm::standard, grid, std::span(&part, 1)), {});
    detail::polled_carrier& carrier = *carriers.at(0);
    for (int late = 0; late < team.size(); ++late) {
      const int before = (late + team.size() - 1) % team.size(), after = (late + 1) % team.size();
      if (team.rank() != late) carrier.start();
      if (team.rank() == before || team.rank() == after) {
        for (waiter wait(team, "the neighbour that is there");
             carrier.missing() + carrier.untaken() > 0; wait.pause()) {
          carrier.progress();
          if (carrier.missing() == 1) break;
        }
        EXPECT_EQ(carrier.missing(), 1u);
        EXPECT_EQ(carrier.awaited_peer(), late);
      }
      team.barrier();
      if (team.rank() == late) carrier.start();
      for (waiter wait(team, "all neighbours"); carrier.missing() + carrier.untaken() > 0;
           wait.pause())
        carrier.progress();
      team.barrier();
    }
  });
}

}  // namespace
}  // namespace longshore
