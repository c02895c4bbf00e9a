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

/// Where the ranks are: known to all after one collective call.
struct rank_places {
  std::vector<std::string> hosts;     ///< different ones, in the order of their lowest rank
  std::vector<int> host_of, core_of;  ///< by rank; core -1: bound to none
  /// By rank: the smallest object that holds the CPUs it may use, who chose them, and which they are (binding.hpp).
  std::vector<std::string> binding, bound_by, cpus;
  [[nodiscard]] int most_ranks_on_a_host() const;
};

/// Collective. `cpus_at_start` are those that the calling process might use before anything was bound.
[[nodiscard]] rank_places find_places(team& team, std::span<const int> cpus_at_start);

/// What the process itself knows before any rank is bound to a core.
struct process_facts {
  std::vector<std::string> command_line;
  int usable_cores = 0;
  std::vector<int> cpus = {};
};

/// The record, on one rank.
[[nodiscard]] json launch_record(const team& team, const request& asked, const rank_places& places, const clock_facts& clock,
                                 const process_facts& process);

}  // namespace longshore::bench
