// The program itself, for whatever patterns it is given: main.cpp gives it the real ones, tests give it faulty ones.
#pragma once

#include "benchmark.hpp"

#include <span>

namespace longshore::bench {

/// Exit statuses of longshore-bench; scripts rely on them.
enum exit_status : int { all_right = 0, wrong_result = 1, nothing_ran = 2, runtime_failure = 3 };

/// Runs a command line; returns the exit status. On a transport whose ranks are processes a failure does not return.
[[nodiscard]] int run_program(int argc, char** argv, std::span<const pattern> patterns);

}  // namespace longshore::bench
