// The communicator of a plan, and the tags of one of its rounds.
#pragma once

#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/mpi/communicator.hpp>

#include <memory>
#include <vector>

namespace longshore::mpi {

struct round_communicator {
  std::shared_ptr<const communicator> comm;
  int first_tag = 0;
};

/// Collective. Makes one communicator for all rounds of a plan, with tags for each round. Tags are
/// reused after about a thousand rounds. This is safe, because rounds come one after the other and
/// messages with the same tag stay in order.
[[nodiscard]] inline std::vector<round_communicator> make_round_communicators(const rank_grid& grid,
                                                                              std::size_t rounds) {
  constexpr int tags_per_round = 27,
                most_rounds = 32767 / tags_per_round;  // MPI guarantees tags up to 32767
  const auto comm =
      std::make_shared<const communicator>(communicator::duplicate(communicator_of(grid.ranks())));
  std::vector<round_communicator> all;
  for (std::size_t r = 0; r < rounds; ++r)
    all.push_back({comm, tags_per_round * static_cast<int>(r % most_rounds)});
  return all;
}

}  // namespace longshore::mpi
