// What --help prints: the texts, and how they are laid out.
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

/// The options with a value that every pattern has.
[[nodiscard]] const std::vector<common_option>& common_options();

/// Every transport that the command line knows, also those that this build does not have.
[[nodiscard]] const std::vector<std::string>& known_transports();

[[nodiscard]] const char* argument_name(const factor& what);
/// What a factor is, its levels, and its default, in lines that fit beside the option's name.
[[nodiscard]] std::string factor_help(const factor& what);

/// Gives the help of one pattern its title, layout and examples.
void describe(CLI::App& app, const pattern& what);

/// The help of the whole program.
[[nodiscard]] std::string program_help(std::span<const pattern> patterns);

}  // namespace longshore::bench
