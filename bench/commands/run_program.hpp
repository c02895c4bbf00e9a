// The main function of longshore-bench, for any patterns. main.cpp passes the patterns of the
// library. faulty_main.cpp passes patterns that fail on request, with which tests show that the
// program finds wrong results and reports failures.
#pragma once

#include "harness/pattern.hpp"

#include <span>

namespace longshore::bench {

/// Runs a command line and returns an exit status of exit_status.hpp. Prints errors itself. If a
/// rank fails while it measures, and ranks are processes (all transports except threads), the
/// transport ends the process with status runtime_failure and this function does not return.
[[nodiscard]] int run_program(int argc, char** argv, std::span<const pattern> patterns);

}  // namespace longshore::bench
