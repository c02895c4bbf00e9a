// The first record of a launch: everything about where and how the figures come about.
#pragma once

#include <longshore/transport/team.hpp>

#include "benchmark.hpp"
#include "options.hpp"
#include "timing.hpp"

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// Where the ranks are. Rank 0 knows all of it. The others know most_ranks_on_a_host alone: the lists of thousands of ranks that are
/// threads would otherwise be thousands of lists.
struct rank_places {
  int most_ranks_on_a_host = 0;
  std::vector<std::string> hosts;     ///< different ones, in the order of their lowest rank
  std::vector<int> host_of, core_of;  ///< by rank; core -1: bound to none. Cores are known to all ranks.
  /// By rank: the smallest object that holds the CPUs it may use, who chose them, and which they are (binding.hpp).
  std::vector<std::string> binding, bound_by, cpus;
};

/// Collective. `cpus_at_start` are those that the calling process might use before anything was bound.
[[nodiscard]] rank_places find_places(team& team, std::span<const int> cpus_at_start);

/// What the process itself knows before any rank is bound to a core.
struct process_facts {
  std::vector<std::string> command_line;
  int usable_cores = 0;
  std::vector<int> cpus = {};
};

/// The record, on rank 0.
[[nodiscard]] json launch_record(const team& team, const request& asked, const rank_places& places, const clock_facts& clock,
                                 const process_facts& process);

}  // namespace longshore::bench
