// Kernel put of pattern control, and kernel pingpong with raw calls. Both show the cost that the
// interface of a transport adds to calls of the communication library.
#pragma once

#include "harness/measurement.hpp"

#include <longshore/transport/team.hpp>

namespace longshore::bench {

/// Collective. Rank 0 puts `bytes` bytes into the memory of another rank, repeatedly. `over` is put
/// (of a segment) or raw (the call of the library). `pair` is near (on the same node) or remote.
/// The target waits and lets its library make progress.
[[nodiscard]] std::unique_ptr<measurement> make_put(team& ranks, const std::string& over,
                                                    const std::string& pair, std::size_t bytes);

/// Collective. A message and a flag from rank 0 to the last rank and back, by calls of the library.
[[nodiscard]] std::unique_ptr<measurement> make_raw_pingpong(team& ranks, std::size_t bytes);

}  // namespace longshore::bench
