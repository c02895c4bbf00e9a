// Tests which peer the posted backend reports as awaited, when some messages have arrived.
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>
#include <longshore/halo/detail/mpi/backends.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::spmd;

// The ranks form a ring, and each rank in turn is late. Its two neighbours have received their
// other message, and must report the late rank.
TEST(PostedBackend, the_late_neighbour_is_reported) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi" || team.size() < 3) return;
    const rank_grid grid(team, {.dimensions = 1, .ranks = {team.size(), 1, 1}});
    field<double> u(grid, {8, 1, 1}, halo_widths({2, 0, 0}, {2, 0, 0}));
    const detail::exchanged_field part{u.memory(), u.widths()};
    const auto backends = mpi::make_posted_backends(
        grid, detail::plan_rounds(halo_algorithm::standard, grid, std::span(&part, 1)), {});
    detail::polled_backend& backend = *backends.at(0);
    for (int late = 0; late < team.size(); ++late) {
      const int before = (late + team.size() - 1) % team.size(), after = (late + 1) % team.size();
      if (team.rank() != late) backend.start();
      if (team.rank() == before || team.rank() == after) {
        for (waiter wait(team, "the neighbour that is in time");
             backend.pending_receives() + backend.pending_sends() > 0; wait.pause()) {
          backend.progress();
          if (backend.pending_receives() == 1) break;
        }
        EXPECT_EQ(backend.pending_receives(), 1u);
        EXPECT_EQ(backend.awaited_peer(), late);
      }
      team.barrier();
      if (team.rank() == late) backend.start();
      for (waiter wait(team, "all neighbours");
           backend.pending_receives() + backend.pending_sends() > 0; wait.pause())
        backend.progress();
      team.barrier();
    }
  });
}

// Pieces of sizes that divide a message, leave a short rest, or hold all of it.
TEST(PostedBackend, messages_in_pieces_arrive_whole) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi" || team.size() < 2) return;
    const rank_grid grid(team, {.dimensions = 1, .ranks = {team.size(), 1, 1}});
    constexpr int width = 12;
    field<double> u(grid, {40, 1, 1}, halo_widths({width, 0, 0}, {width, 0, 0}));
    const detail::exchanged_field part{u.memory(), u.widths()};
    for (const std::size_t piece_bytes : {8, 24, 40, 96, 1000}) {
      const auto backends = mpi::make_posted_backends(
          grid, detail::plan_rounds(halo_algorithm::standard, grid, std::span(&part, 1)), {},
          piece_bytes);
      for (int exchange = 0; exchange < 3; ++exchange) {
        const auto value = [&](int rank, int cell) {
          return 1000.0 * rank + cell + 0.1 * exchange;
        };
        for (int x = -width; x < 40 + width; ++x)
          u(x) = x < 0 || x >= 40 ? -1 : value(team.rank(), x);
        backends[0]->start();
        for (waiter wait(team, "the neighbours");
             backends[0]->pending_receives() + backends[0]->pending_sends() > 0; wait.pause())
          backends[0]->progress();
        const int low = (team.rank() + team.size() - 1) % team.size(),
                  high = (team.rank() + 1) % team.size();
        for (int x = 0; x < width; ++x) {
          ASSERT_EQ(u(x - width), value(low, 40 - width + x));
          ASSERT_EQ(u(40 + x), value(high, x));
        }
      }
      team.barrier();
    }
  });
}

}  // namespace
}  // namespace longshore
