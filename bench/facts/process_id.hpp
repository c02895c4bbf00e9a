// Tells apart the processes of a launch, for counts that the kernel keeps per process.
#pragma once

#include <longshore/transport/team.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace longshore::bench {

/// Process numbers repeat between hosts, and containers on several hosts may share a host name.
struct process_id {
  std::array<char, 64> host{};
  int node = 0;  ///< 0 if nodes are virtual: a process may then hold ranks of several nodes
  int number = 0;
  auto operator<=>(const process_id&) const = default;
};

[[nodiscard]] inline process_id this_process(const team& ranks) {
  process_id process;
  gethostname(process.host.data(), process.host.size() - 1);
  process.node = ranks.nodes().is_virtual() ? 0 : ranks.nodes().my_node();
  process.number = getpid();
  return process;
}

/// Whether this rank is the lowest rank of its process. `processes` is indexed by rank.
[[nodiscard]] inline bool is_first_rank_of_process(const std::vector<process_id>& processes,
                                                   int rank) {
  const auto& process = processes[static_cast<std::size_t>(rank)];
  return std::find(processes.begin(), processes.end(), process) - processes.begin() == rank;
}

}  // namespace longshore::bench
