// Kernel copy of pattern control: a memory copy on all ranks at once.
#pragma once

#include "harness/measurement.hpp"

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>

namespace longshore::bench {

/// The default number of bytes per rank. Source and destination together are at least four times
/// the caches of the machine, as for pattern stream, but at most 512 MiB.
[[nodiscard]] std::size_t default_copy_bytes();

/// Collective. Throws errc::out_of_memory if the buffers of all ranks do not fit.
[[nodiscard]] std::unique_ptr<measurement> make_copy(team& ranks, std::size_t bytes);

}  // namespace longshore::bench
