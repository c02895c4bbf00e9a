// The numbers of a machine file, as measured on the machine at hand by variants of the patterns.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/pattern.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// A line of a machine file, such as latency_us = 0.1.
struct machine_entry {
  std::string key, value;
  std::string source;  ///< how the number was measured
};

/// The lines of tables, by the name of a table.
using machine_tables = std::map<std::string, std::vector<machine_entry>>;

/// Collective. The tables that this launch can measure: [memory] and [cost] if all ranks are on one
/// node, else [network]. The result is complete on rank 0 only, which also prints its progress to
/// standard error. Throws errc::unsupported if a variant that is needed cannot run here, and
/// errc::transport if one has a wrong result.
[[nodiscard]] machine_tables measure_machine(team& team, std::span<const pattern> patterns,
                                             int repetitions);

}  // namespace longshore::bench
