// Sorts particles by their cell, over all ranks.
//
// After the sort, rank 0 holds the particles of the lowest cells, rank 1 the particles of the next
// cells, and so on. The sort is stable and moves whole records; a member of the record is the key.
//
//     LONGSHORE_RANKS=4 sort        mpirun -n 4 sort
#include <longshore/longshore.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

struct particle {
  std::uint32_t cell;
  float x, y, z;
};

}  // namespace

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    longshore::random_stream random(1, static_cast<std::uint64_t>(team.rank()));
    std::vector<particle> particles(100'000);
    for (auto& particle : particles)
      particle = {
          .cell = static_cast<std::uint32_t>(random.below(1'000'000)), .x = 0, .y = 0, .z = 0};

    const auto result = longshore::bucket_sort(team, particles, {.stable = true}, &particle::cell);

    const bool sorted = std::ranges::is_sorted(result, {}, &particle::cell);
    const auto particle_count =
        team.allreduce_value(static_cast<std::int64_t>(result.size()), longshore::reduction::sum);
    // The last key of a rank is at most the first key of every later rank.
    const std::int64_t first = result.empty() ? -1 : result.front().cell,
                       last = result.empty() ? -1 : result.back().cell;
    const auto firsts = team.allgather_value(first), lasts = team.allgather_value(last);
    bool right = team.allreduce_value(sorted ? 1 : 0, longshore::reduction::min) == 1 &&
                 particle_count == 100'000LL * team.size();
    std::int64_t highest = -1;
    for (std::size_t rank = 0; rank < firsts.size(); ++rank) {
      right = right && (firsts[rank] < 0 || firsts[rank] >= highest);
      highest = std::max(highest, lasts[rank]);
    }
    if (team.rank() == 0)
      std::printf("sort: ranks=%d particles=%lld verified=%s\n", team.size(),
                  static_cast<long long>(particle_count), right ? "yes" : "no");
    if (!right) throw std::runtime_error("sort: the result is not sorted");
  });
}
