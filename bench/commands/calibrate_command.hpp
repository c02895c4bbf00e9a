// The command `longshore-bench calibrate`: measures the machine at hand, and writes its machine
// file for the transport `simulated` (docs/reference/machine-file.md).
#pragma once

#include "harness/pattern.hpp"

#include <span>

namespace longshore::bench {

/// Returns the exit status. `words` are the arguments after the word "calibrate"; `patterns` are
/// those of the library. A launch on one node measures memory and work of the processors, and a
/// launch on several nodes measures the network between two of them.
[[nodiscard]] int run_calibrate_command(std::span<const char* const> words,
                                        std::span<const pattern> patterns);

}  // namespace longshore::bench
