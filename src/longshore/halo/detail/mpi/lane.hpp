// Where the messages of one round of a plan travel: a communicator of the plan, and tags of the
// round.
#pragma once

#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/mpi/communicator.hpp>

#include <memory>
#include <vector>

namespace longshore::mpi {

struct lane {
  std::shared_ptr<const communicator> comm;
  int first_tag = 0;
};

/// Collective. One per round, all on one communicator. Rounds come one after the other, and
/// messages of one tag stay in order: so tags may come again after a thousand rounds.
[[nodiscard]] inline std::vector<lane> make_lanes(const rank_grid& grid, std::size_t rounds) {
  constexpr int tags_per_round = 27,
                most_rounds = 32767 / tags_per_round;  // MPI guarantees tags up to 32767
  const auto comm =
      std::make_shared<const communicator>(communicator::duplicate(communicator_of(grid.ranks())));
  std::vector<lane> lanes;
  for (std::size_t r = 0; r < rounds; ++r)
    lanes.push_back({comm, tags_per_round * static_cast<int>(r % most_rounds)});
  return lanes;
}

}  // namespace longshore::mpi
