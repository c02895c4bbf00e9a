// Each rank puts its number into the segment of the next rank. Rank 0 prints the sum of the
// received numbers, and the number of wrong ones.
#include <longshore/longshore.hpp>

#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    auto segment = team.allocate(sizeof(std::int64_t));
    const std::int64_t mine = team.rank();
    segment->put((team.rank() + 1) % team.size(), 0, &mine, sizeof mine);
    segment->quiet();
    team.barrier();
    std::int64_t received = -1;
    segment->get(team.rank(), 0, &received, sizeof received);
    const bool right = received == (team.rank() + team.size() - 1) % team.size();
    const auto wrong_ranks =
        team.allreduce_value<std::int64_t>(right ? 0 : 1, longshore::reduction::sum);
    const auto sum = team.allreduce_value(received, longshore::reduction::sum);
    if (team.rank() == 0) {
      std::printf("%d ranks on %s: sum %lld, wrong %lld\n", team.size(),
                  team.transport_name().data(), static_cast<long long>(sum),
                  static_cast<long long>(wrong_ranks));
    }
  });
}
