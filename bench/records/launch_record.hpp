// The first record of a launch: the machine, the program and the options.
#pragma once

#include <longshore/transport/team.hpp>

#include "facts/clock.hpp"
#include "facts/json.hpp"
#include "facts/rank_places.hpp"
#include "harness/sweep.hpp"

#include <string>
#include <vector>

namespace longshore::bench {

/// Facts of the process before any rank is bound to a core.
struct process_facts {
  std::vector<std::string> command_line;
  int usable_cores = 0;
  std::vector<int> cpus = {};
};

/// REQUIRES: called on rank 0.
[[nodiscard]] json launch_record(const team& team, const sweep_options& options,
                                 const rank_places& places, const clock_facts& clock,
                                 const process_facts& process);

}  // namespace longshore::bench
