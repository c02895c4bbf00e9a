// The texts of --help and their layout.
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
  std::string name;  ///< without dashes
  const char* argument;
  std::string help;
};

/// The options of every pattern that take a value.
[[nodiscard]] const std::vector<common_option>& common_options();

/// Every transport of the command line, also those that this build lacks.
[[nodiscard]] const std::vector<std::string>& known_transports();

[[nodiscard]] const char* argument_name(const factor& what);
/// The meaning of a factor, its levels and its default, in lines that fit beside the name of the
/// option.
[[nodiscard]] std::string factor_help(const factor& what);

/// Sets the layout, the examples and the footer of the help of one pattern.
void describe(CLI::App& app, const pattern& what);

/// The help of the whole program.
[[nodiscard]] std::string program_help(std::span<const pattern> patterns);

}  // namespace longshore::bench
