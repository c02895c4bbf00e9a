// The command line of longshore-bench as a request. Every process parses its own command line
// before it starts the transport, so that an error is found early.
#pragma once

#include <longshore/transport/run_options.hpp>

#include "harness/pattern.hpp"
#include "harness/sweep.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

struct request {
  enum class action { measure, list, print };
  action requested = action::measure;
  std::string text;  ///< for print: help or version
  // For measure:
  const pattern* measured = nullptr;
  std::vector<factor_levels> factors;
  run_options launch;
  sweep_options options;
  std::optional<std::string> json_file;  ///< "-" is standard output
};

/// Throws errc::usage with a message that names the option, its value and the allowed values. The
/// result points into `patterns`.
[[nodiscard]] request parse_command_line(int argc, const char* const* argv,
                                         std::span<const pattern> patterns);

}  // namespace longshore::bench
