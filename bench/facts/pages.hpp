// For the record of a variant: page faults and the pages of its memory, summed over the ranks.
#pragma once

#include <longshore/machine/resource_usage.hpp>
#include <longshore/transport/team.hpp>

#include "facts/json.hpp"

#include <span>

namespace longshore::bench {

/// Counts page faults of all processes of a team. All calls are collective.
class page_fault_counter {
 public:
  explicit page_fault_counter(team& ranks);
  /// Page faults since the last call, or since construction. The result is the same on all ranks.
  [[nodiscard]] fault_counts since_last();

 private:
  [[nodiscard]] fault_counts now();
  team& team_;
  bool counts_for_process_;  // true on the first rank of each process
  fault_counts last_;
};

/// Collective. Describes the pages under the ranges of all ranks: bytes, resident bytes, bytes in
/// transparent and in explicit huge pages, the page size of the kernel, and bytes per NUMA node. A
/// number is null if it is unknown on any rank.
[[nodiscard]] json pages_of_ranks(team& ranks, std::span<const std::span<const std::byte>> ranges);

}  // namespace longshore::bench
