// The first record of a launch: where and how it measured.
#pragma once

#include <longshore/transport/team.hpp>

#include "facts/clock.hpp"
#include "facts/json.hpp"
#include "facts/rank_places.hpp"
#include "harness/sweep_options.hpp"

#include <string>
#include <vector>

namespace longshore::bench {

/// Facts of the process before any rank is bound to a core.
struct process_facts {
  std::vector<std::string> command_line;
  int usable_cores = 0;
  std::vector<int> cpus = {};
};

/// The record, on rank 0.
[[nodiscard]] json launch_record(const team& team, const sweep_options& how,
                                 const rank_places& places, const clock_facts& clock,
                                 const process_facts& process);

}  // namespace longshore::bench
