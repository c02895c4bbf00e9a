// The texts of --help.
#pragma once

#include "harness/pattern.hpp"

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace longshore::bench {

struct common_option {
  std::string name;      ///< without dashes
  const char* argument;  ///< null for a flag, which has no value
  std::string help;
};

/// The options that every pattern has, with --phases only if the pattern times phases.
[[nodiscard]] std::vector<common_option> common_options(const pattern& pattern);

/// All transports, including those that this build lacks.
[[nodiscard]] const std::vector<std::string>& known_transports();

[[nodiscard]] const char* argument_name(const factor& factor);
/// The meaning of a factor, its levels and its default, in lines that fit beside the option.
[[nodiscard]] std::string factor_help(const factor& factor);

/// Sets the layout, the examples and the footer of the help of a pattern.
void set_help_layout(CLI::App& app, const pattern& pattern);

[[nodiscard]] std::string program_help(std::span<const pattern> patterns);

}  // namespace longshore::bench
