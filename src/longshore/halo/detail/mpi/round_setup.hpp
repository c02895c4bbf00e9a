// What the backends that call MPI share: the arguments of their constructors, the size of pieces,
// and the wait for a list of requests.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/transport/mpi/detail/communicator.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::mpi {

/// One round of a plan. All rounds share a communicator. The tags of this round begin at
/// `first_tag`.
struct round_setup {
  const rank_grid& grid;
  detail::halo_round round;
  std::shared_ptr<const communicator> comm;
  int first_tag = 0;
  tasks* workers = nullptr;
};

/// Collective. Makes the communicator of a plan. Each round gets 27 tags, one per direction. Tags
/// are reused after about a thousand rounds. Reuse is safe, because rounds come one after another,
/// and MPI keeps messages with the same tag in order.
[[nodiscard]] inline std::vector<round_setup> make_round_setups(
    const rank_grid& grid, std::vector<detail::halo_round> rounds, tasks* workers) {
  constexpr int tags_per_round = 27;
  constexpr int rounds_with_own_tags = 32767 / tags_per_round;  // MPI guarantees tags up to 32767
  const auto comm =
      std::make_shared<const communicator>(communicator::duplicate(communicator_of(grid.ranks())));
  std::vector<round_setup> setups;
  for (auto& round : rounds) {
    const int index = static_cast<int>(setups.size());
    setups.push_back(
        {grid, std::move(round), comm, tags_per_round * (index % rounds_with_own_tags), workers});
  }
  return setups;
}

inline void wait_all(std::vector<MPI_Request>& requests) {
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

}  // namespace longshore::mpi
