// Reads random elements of a table that is too large for one rank (index gather).
//
// The table is a distributed array: each rank owns a part of its elements. One call fetches any
// list of elements. Longshore chooses the strategy that is fastest on this machine.
//
//     LONGSHORE_RANKS=4 gather        mpirun -n 4 gather
#include <longshore/longshore.hpp>

#include <cstdio>
#include <stdexcept>
#include <vector>

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    constexpr std::int64_t elements = 100'000;
    longshore::dist_array<std::int64_t, longshore::cyclic> table(team, elements);
    const auto part = table.local();
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto index = table.map().index_of(team.rank(), i);
      part[i] = static_cast<std::int64_t>(index * index);
    }
    team.barrier();  // After the barrier, any rank may read all elements.

    longshore::random_stream random(1, static_cast<std::uint64_t>(team.rank()));
    std::vector<std::int64_t> indices(200'000), values(indices.size());
    for (auto& index : indices) index = static_cast<std::int64_t>(random.below(elements));
    longshore::gather(table, indices, values);

    int wrong = 0;
    for (std::size_t i = 0; i < indices.size(); ++i)
      wrong += values[i] != indices[i] * indices[i] ? 1 : 0;
    wrong = team.allreduce_value(wrong, longshore::reduction::sum);
    if (team.rank() == 0)
      std::printf("gather: ranks=%d requests=%zu verified=%s\n", team.size(), indices.size(),
                  wrong == 0 ? "yes" : "no");
    if (wrong > 0) throw std::runtime_error("gather: values are wrong");
  });
}
