// The command line. Every process parses it before anything is started, so that an error costs
// nothing.
#pragma once

#include <longshore/transport/run_options.hpp>

#include "harness/pattern.hpp"
#include "harness/sweep_options.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// The request of a command line.
struct request {
  enum class kind { run, list, print };
  kind what = kind::run;
  std::string text;                   ///< print: help or version
  const pattern* measured = nullptr;  ///< run: the pattern to measure
  std::vector<factor_levels> factors;
  run_options launch;
  sweep_options how;
  std::optional<std::string> json_file;  ///< "-": standard output
};

/// Throws errc::usage with a message that names the option, its value and the allowed ones. Keeps
/// pointers into `patterns`.
[[nodiscard]] request parse_command_line(int argc, const char* const* argv,
                                         std::span<const pattern> patterns);

}  // namespace longshore::bench
