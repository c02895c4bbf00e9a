// Where the ranks of a launch run: hosts, cores and bindings.
#pragma once

#include <longshore/transport/team.hpp>

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// Complete on rank 0 only. Other ranks have only max_ranks_on_host: with thousands of ranks in one
/// process, each rank would otherwise hold lists of all ranks.
struct rank_places {
  int max_ranks_on_host = 0;
  std::vector<std::string> hosts;  ///< distinct names, in the order of their lowest rank
  std::vector<int> core_of;        ///< by rank; -1 if the rank is not bound to one core
  /// By rank: binding_word(), bound_by() and cpu_list() of binding.hpp
  std::vector<std::string> binding, bound_by, cpus;
};

/// Collective. `cpus_at_start`: the CPUs of this process before Longshore bound any rank.
[[nodiscard]] rank_places find_rank_places(team& team, std::span<const int> cpus_at_start);

}  // namespace longshore::bench
