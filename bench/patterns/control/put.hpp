// Kernel put, and the ping-pong of raw calls: what the interface of a transport adds to the library that it stands on.
#pragma once

#include "harness/pattern.hpp"

namespace longshore::bench {

/// Rank 0 puts `bytes` bytes into the memory of another rank, again and again; `over`: put (a segment's) or raw (the library's own call);
/// `pair`: near (of the same node) or remote. The target waits, and lets its library work.
[[nodiscard]] std::unique_ptr<measurement> make_put(team& ranks, const std::string& over, const std::string& pair,
                                                    std::size_t bytes);

/// A message and a flag from rank 0 to the last rank and back, by the library's own calls.
[[nodiscard]] std::unique_ptr<measurement> make_raw_pingpong(team& ranks, std::size_t bytes);

}  // namespace longshore::bench
