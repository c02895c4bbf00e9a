// The commands of longshore-bench. Each prints its errors and returns an exit status of running.hpp.
// `words` are the arguments after the name of the command.
#pragma once

#include "harness/pattern.hpp"

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// Measures a pattern, lists the patterns, or prints the help. Takes all arguments that the other
/// commands do not take. main.cpp passes the patterns of the library, and faulty_main.cpp patterns
/// that fail on request. If a rank fails while it measures, and ranks are processes (all transports
/// except threads), the transport ends the process with status runtime_failure and this function
/// does not return.
[[nodiscard]] int run_pattern_command(int argc, char** argv, std::span<const pattern> patterns);

/// `calibrate`: measures the machine at hand, and writes its machine file
/// (docs/reference/machine-file.md). `patterns` are those of the library. A launch on one node
/// measures memory and work of the processors, and a launch on several nodes measures the network
/// between two of them.
[[nodiscard]] int run_calibrate_command(std::span<const char* const> words,
                                        std::span<const pattern> patterns);

/// Whether all arguments of the program request `gather --plan`: `gather` first, --plan anywhere.
[[nodiscard]] bool asks_for_gather_plan(std::span<const char* const> words);
/// Prints the predicted memory and messages of each aggregating strategy on a machine with other
/// numbers of ranks and nodes. Starts no ranks. `words` contain --plan.
[[nodiscard]] int run_gather_plan_command(std::span<const char* const> words);

/// `placement`: prints the traffic of a halo exchange between distant ranks for several placements
/// of the ranks in their grid, and the options that select the best placement. Starts no ranks.
[[nodiscard]] int run_placement_command(std::span<const char* const> words);

/// For --list: the JSON object of docs/reference/bench.md.
[[nodiscard]] json listing(std::span<const pattern> patterns);

}  // namespace longshore::bench
