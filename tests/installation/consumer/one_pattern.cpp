// Exchanges a halo and uses no other pattern: for projects that link longshore::halo alone.
#include <longshore/halo/halo_exchange.hpp>
#include <longshore/transport/launch/run.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    const longshore::rank_grid grid(team, {.dimensions = 1, .periodic = {true, true, true}});
    longshore::field<double> u(grid, {4, 1, 1}, 1);
    for (int x = 0; x < 4; ++x) u(0, 0, x) = team.rank();
    longshore::halo_exchange halo(grid, {}, u);
    halo.exchange();
    const auto left = static_cast<std::int64_t>(u(0, 0, -1));
    const bool right = left == (team.rank() + team.size() - 1) % team.size();
    const auto wrong = team.allreduce_value<std::int64_t>(right ? 0 : 1, longshore::reduction::sum);
    const auto sum = team.allreduce_value(left, longshore::reduction::sum);
    if (team.rank() == 0)
      std::printf("%d ranks on %s: sum %lld, wrong %lld\n", team.size(),
                  team.transport_name().data(), static_cast<long long>(sum),
                  static_cast<long long>(wrong));
  });
}
