// How a pattern describes itself to the program. The harness knows nothing else about it: options,
// cross product, order, timing and records are the same for all patterns.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/measurement.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace longshore::bench {

/// One factor of a pattern: an option --name that takes a comma-separated list of levels.
struct factor {
  /// triple: X,Y,Z is one level, not a list: "64,64,64"
  enum class kind { word, integer, triple };
  /// As typed, without dashes: "task-count"; the record has underscores: "task_count"
  std::string name;
  kind type = kind::word;
  /// Words only: every level of the documentation, also those that this build lacks
  std::vector<std::string> allowed = {};
  /// One level each; empty: the variant lacks the factor when it is not given
  std::vector<std::string> defaults;
  std::string help;
  /// Range of an integer, and of each number of a triple; both 0: 1 to largest_count
  long low = 0, high = 0;
  /// words: every level runs wherever the factor has an effect, so that --list need not try
  bool always_available = false;
};

/// Largest value of an integer factor whose pattern sets no range: 2^40 items per rank.
inline constexpr long largest_count = 1L << 40;

/// The factor's name in a variant: "task_count".
[[nodiscard]] std::string variant_name(const std::string& factor_name);

/// A factor and its requested levels, each as it stands in a variant. No levels: the variant lacks
/// the factor.
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

struct pattern {
  std::string name, help;
  std::vector<factor> factors;
  std::vector<std::string> examples;  ///< command lines for --help
  /// Why this variant cannot run on this rank, or nothing. If any rank has a reason, no rank runs
  /// the variant.
  std::function<std::optional<std::string>(const variant&, const launch_facts&)> why_not;
  /// Collective. errc::usage and errc::unsupported mean that the variant makes no sense here: all
  /// ranks throw alike, and the variant is skipped with that reason. Any other error, such as
  /// errc::out_of_memory, ends the run. May be called more than once per variant.
  std::function<std::unique_ptr<measurement>(team&, const variant&, const launch_facts&)> make;
  /// Removes factors without effect from a variant (contiguous buffers have no halo width), before
  /// why_not sees it. Variants that become equal are run once.
  std::function<void(variant&)> settle = {};
  /// About how many bytes of symmetric memory (segments and channels) a rank needs for a variant on
  /// a given number of ranks. Transports that reserve such memory before the start reserve this
  /// much.
  std::function<std::size_t(const variant&, int)> symmetric_bytes = {};
  /// Throws errc::usage when the requested levels, by names of factors, make no sense together.
  /// Called once on each process, before anything is started.
  std::function<void(const std::map<std::string, std::vector<json>>&)> check = {};
};

}  // namespace longshore::bench
