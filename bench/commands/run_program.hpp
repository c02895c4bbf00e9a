// The program for any patterns: main.cpp passes the real ones, tests pass faulty ones.
#pragma once

#include "commands/exit_status.hpp"
#include "harness/pattern.hpp"

#include <span>

namespace longshore::bench {

/// Runs a command line; returns the exit status. On a transport whose ranks are processes, a
/// failure ends the process and does not return.
[[nodiscard]] int run_program(int argc, char** argv, std::span<const pattern> patterns);

}  // namespace longshore::bench
