// Measures the memory bandwidth with the STREAM triad, a = b + q * c, on distributed arrays.
//
// The program has one loop over all elements. Each rank runs the loop on the elements that it owns.
//
//     LONGSHORE_RANKS=4 stream        mpirun -n 4 stream
#include <longshore/longshore.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    constexpr std::uint64_t elements = 8'000'000;
    longshore::dist_array<double> a(team, elements), b(team, elements), c(team, elements);
    longshore::tasks workers;  // one thread per rank; {.layer = "threads", .count = 4} gives 4
    longshore::for_each(workers, longshore::zip(a, b, c),
                        [](double& x, double& y, double& z) { x = 0, y = 1, z = 2; });

    double best = 1e9;
    for (int trial = 0; trial < 5; ++trial) {
      team.barrier();
      const double start = team.now();
      longshore::for_each(workers, longshore::zip(a, b, c),
                          [](double& x, double& y, double& z) { x = y + 3 * z; });
      team.barrier();  // waits for the slowest rank
      best = std::min(best, team.allreduce_value(team.now() - start, longshore::reduction::max));
    }

    const bool mine = std::ranges::all_of(a.local(), [](double x) { return x == 7; });
    const bool right = team.allreduce_value(mine ? 1 : 0, longshore::reduction::min) == 1;
    if (team.rank() == 0)
      std::printf("stream: ranks=%d gigabytes_per_second=%.1f verified=%s\n", team.size(),
                  24e-9 * elements / best, right ? "yes" : "no");
    if (!right) throw std::runtime_error("stream: the triad is wrong");
  });
}
