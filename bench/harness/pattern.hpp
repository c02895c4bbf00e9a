// The description of a pattern: all that the program knows about the pattern. Options, cross
// product, order, timing and records are the same for all patterns.
#pragma once

#include <longshore/core/name_lookup.hpp>
#include <longshore/transport/team.hpp>

#include "harness/measurement.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace longshore::bench {

/// The names of an enumeration: the levels of a factor.
template <named_enum Enum>
[[nodiscard]] std::vector<std::string> names_in() {
  return {all_names<Enum>.names.begin(), all_names<Enum>.names.end()};
}

/// The level of a factor whose levels are those names.
template <named_enum Enum>
[[nodiscard]] Enum level_of(const variant& levels, const char* factor) {
  return from_name<Enum>(levels.at(factor).get<std::string>());
}

/// Largest value of an integer factor without a range.
inline constexpr long max_integer_level = 1L << 40;

/// One factor of a pattern: an option --name that takes a comma-separated list of levels.
struct factor {
  /// One level of a triple is X,Y,Z: "64,64,64". A text is anything without a comma, such as the
  /// name of a file.
  enum class kind { word, integer, triple, text };
  /// Name as typed, without dashes: "task-count". Records have underscores: "task_count".
  std::string name;
  kind type = kind::word;
  /// Levels of a word, including those that this build lacks
  std::vector<std::string> allowed = {};
  /// Default levels as typed. If empty, the variant lacks the factor unless the option is given.
  std::string defaults;
  std::string help;
  /// Range of an integer, and of each number of a triple.
  long low = 1, high = max_integer_level;
  /// Every level of a word runs wherever the factor has an effect, so that --list need not try.
  bool always_available = false;
};

// The lines of a table of factors.

[[nodiscard]] inline factor word_factor(std::string name, std::vector<std::string> allowed,
                                        std::string defaults, std::string help,
                                        bool always_available = false) {
  return {.name = std::move(name),
          .allowed = std::move(allowed),
          .defaults = std::move(defaults),
          .help = std::move(help),
          .always_available = always_available};
}
[[nodiscard]] inline factor integer_factor(std::string name, std::string defaults, std::string help,
                                           long low = 1, long high = max_integer_level) {
  return {.name = std::move(name),
          .type = factor::kind::integer,
          .defaults = std::move(defaults),
          .help = std::move(help),
          .low = low,
          .high = high};
}
[[nodiscard]] inline factor triple_factor(std::string name, std::string defaults, std::string help,
                                          long low = 1, long high = max_integer_level) {
  factor made = integer_factor(std::move(name), std::move(defaults), std::move(help), low, high);
  made.type = factor::kind::triple;
  return made;
}

/// The factor's name in a variant: "task_count".
[[nodiscard]] std::string variant_name(const std::string& factor_name);

/// A factor and its requested levels, as in a variant. Without levels, the variant lacks the
/// factor.
struct factor_levels {
  std::string name;  ///< as typed: "task-count"
  std::vector<json> levels;
};

/// Facts about a launch by which a pattern decides whether it can run a variant.
struct launch_facts {
  std::string transport;
  int ranks = 1, nodes = 1, largest_node = 1;
  std::uint64_t seed = 122222;
};

/// A pattern, such as halo. The program calls settle, then why_not, then make for each variant.
struct pattern {
  std::string name, help;
  std::vector<factor> factors;
  std::vector<std::string> examples;  ///< command lines for --help
  /// The reason why a variant cannot run on this rank, or nothing. If any rank has a reason, no
  /// rank runs the variant.
  std::function<std::optional<std::string>(const variant&, const launch_facts&)> why_not;
  /// Collective. May be called more than once per variant. If the variant makes no sense here, all
  /// ranks throw errc::usage or errc::unsupported, and the variant is skipped with that reason. Any
  /// other error, such as errc::out_of_memory, ends the run.
  std::function<std::unique_ptr<measurement>(team&, const variant&, const launch_facts&)> make;
  /// Removes factors without effect from a variant (contiguous buffers have no halo width). Called
  /// before why_not. Of variants that become equal, one is run.
  std::function<void(variant&)> settle = {};
  /// Approximate bytes of symmetric memory (segments and channels) that a rank needs for a variant.
  /// Transports that reserve symmetric memory before the start reserve this much.
  std::function<std::size_t(const variant&, int ranks)> symmetric_bytes = {};
  /// Throws errc::usage if the requested levels make no sense together. Called once on each
  /// process, before any rank is started.
  std::function<void(const std::map<std::string, std::vector<json>>& levels_by_factor)> check = {};
  bool times_phases = false;  ///< whether phases can be timed on request (--phases)
};

}  // namespace longshore::bench
