// Page faults and pages of the memory of a variant, summed over the ranks, for its record.
#pragma once

#include <longshore/machine/resource_usage.hpp>
#include <longshore/transport/team.hpp>

#include "facts/json.hpp"

#include <span>

namespace longshore::bench {

/// Page faults of all processes of a team between two calls. All calls are collective.
class page_fault_counter {
 public:
  explicit page_fault_counter(team& ranks);
  /// Since the last call, or since construction. The same on all ranks.
  [[nodiscard]] fault_counts since_last();

 private:
  [[nodiscard]] fault_counts now();
  team& team_;
  bool counts_for_process_;  // the first rank of each process
  fault_counts last_;
};

/// Collective. The pages under these ranges of all ranks: bytes; resident bytes; bytes in
/// transparent and in explicit huge pages; the kernel's page size; bytes per NUMA node. A number
/// that any rank could not find out is null.
[[nodiscard]] json pages_of_ranks(team& ranks, std::span<const std::span<const std::byte>> ranges);

}  // namespace longshore::bench
