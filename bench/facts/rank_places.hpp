// Where the ranks of a launch run: hosts, cores and bindings.
#pragma once

#include <longshore/transport/team.hpp>

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// Complete on rank 0 only. Other ranks know most_ranks_on_a_host and core_of alone: with thousands
/// of ranks as threads of one process, every rank would otherwise hold lists of all.
struct rank_places {
  int most_ranks_on_a_host = 0;
  std::vector<std::string> hosts;  ///< different ones, in the order of their lowest rank
  std::vector<int> core_of;        ///< by rank; -1: not bound to one core
  /// By rank: the smallest object that holds its CPUs, who bound it, and the CPUs (binding.hpp).
  std::vector<std::string> binding, bound_by, cpus;
};

/// Collective. `cpus_at_start` are the CPUs of the calling process before Longshore bound any rank.
[[nodiscard]] rank_places find_rank_places(team& team, std::span<const int> cpus_at_start);

}  // namespace longshore::bench
