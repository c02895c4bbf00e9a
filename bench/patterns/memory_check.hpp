// Refuses measurements that need more memory than the machine has, for all patterns.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/team.hpp>

#include <string>

namespace longshore::bench {

/// Collective. Throws errc::out_of_memory on all ranks if the memory of all ranks of a host exceeds
/// the available memory. No rank alone notices the excess, because the system provides memory only
/// when it is first touched. `memory` says in the error message what the memory is for.
inline void check_memory(team& ranks, const std::string& memory, double bytes_per_rank) {
  const int sharing = ranks.nodes().ranks_on_host();
  const auto available = static_cast<double>(available_memory_bytes());
  if (ranks.allreduce_value(bytes_per_rank * sharing / available, reduction::max) > 1)
    fail(errc::out_of_memory,
         "{} ({:.3g} GB) on each of {} ranks do not fit into the {:.3g} GB available: measure less "
         "per rank, or use fewer ranks",
         memory, 1e-9 * bytes_per_rank, sharing, 1e-9 * available);
}

}  // namespace longshore::bench
