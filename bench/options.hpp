// The command line: parsed on every process before anything is started, so that an error costs nothing.
#pragma once

#include <longshore/transport/run_options.hpp>

#include "benchmark.hpp"
#include "levels.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// How a pattern is measured; the same for all patterns.
struct measuring {
  int repetitions = 10, warmup = 1;
  long iterations = 0;  ///< operations per repetition; 0: chosen so that a repetition is long enough for the clock
  std::uint64_t seed = 122222;
  bool verify = true, shuffle = true, pulse = true;
};

/// What the command line asks for.
struct request {
  enum class kind { run, list, print };
  kind what = kind::run;
  std::string text;                  ///< print: help or version
  const pattern* program = nullptr;  ///< run
  std::vector<factor_levels> factors;
  run_options launch;
  measuring how;
  std::optional<std::string> json_file;  ///< "-": standard output
};

/// Throws errc::usage, whose message names the option, what was given, and what is allowed. Pointers into `patterns` are kept.
[[nodiscard]] request parse_command_line(int argc, const char* const* argv, std::span<const pattern> patterns);

}  // namespace longshore::bench
