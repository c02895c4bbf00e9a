// The command line: parsed on every process before anything is started, so that an error costs nothing.
#pragma once

#include <longshore/transport/run_options.hpp>

#include "harness/pattern.hpp"
#include "harness/sweep_options.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// What the command line asks for.
struct request {
  enum class kind { run, list, print };
  kind what = kind::run;
  std::string text;                   ///< print: help or version
  const pattern* measured = nullptr;  ///< run
  std::vector<factor_levels> factors;
  run_options launch;
  sweep_options how;
  std::optional<std::string> json_file;  ///< "-": standard output
};

/// Throws errc::usage, whose message names the option, what was given, and what is allowed. Pointers into `patterns` are kept.
[[nodiscard]] request parse_command_line(int argc, const char* const* argv, std::span<const pattern> patterns);

}  // namespace longshore::bench
