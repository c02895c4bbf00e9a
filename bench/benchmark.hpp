// What a pattern tells the benchmark program about itself. The harness knows nothing else of it: options, cross product, order,
// timing and records are the same for all.
#pragma once

#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace longshore::bench {

using json = nlohmann::ordered_json;

/// One factor of a pattern: an option --name that takes a comma-separated list of levels.
struct factor {
  enum class kind { word, integer, triple };  ///< triple: X,Y,Z as one level (not a list), "64,64,64"
  std::string name;  ///< as typed, without dashes: "task-count"; the record has underscores: "task_count"
  kind type = kind::word;
  std::vector<std::string> allowed =
      {};                             ///< words only: every level that record.md has, also those that this build cannot do yet
  std::vector<std::string> defaults;  ///< one level each; empty: not given, and then not part of the variant
  std::string help;
  long low = 0, high = 0;  ///< integers, and each number of a triple: the range that makes sense; both 0: 1 to 2^40
  bool always_available =
      false;  ///< words: every level can be had wherever the factor has an effect, so that --list need not try
};

/// One level of each factor, with the names of the record: words as strings, integers as numbers, triples as arrays of three
/// numbers: {"kernel":"triad","elements":1000000,...}, {"domain":[64,64,64],...}. A factor that was not given and has no default
/// is not in it.
using variant = json;

/// Statistics of the timed repetitions, in seconds of one operation: over repetitions of the maximum over ranks.
struct summary {
  double median = 0, p10 = 0, p90 = 0, best = 0;
  double mean_over_ranks_median = 0;  ///< median over repetitions of the mean over ranks (what bale and ISx report)
  std::vector<std::pair<std::string, double>> phases;  ///< median over repetitions of the maximum over ranks, by phase
};

struct repetition;  // statistics.hpp

struct metric {
  std::string name;
  double value;
  std::string unit;
  bool higher_is_better = true;
  std::string per = "";  ///< "node" or "rank", for people: the value is what one of them has; empty: what all have together
};

/// A rate of which each node has so much.
[[nodiscard]] inline metric per_node(std::string name, double value, std::string unit) {
  return {std::move(name), value, std::move(unit), true, "node"};
}

/// A rate of which each rank has so much.
[[nodiscard]] inline metric per_rank(std::string name, double value, std::string unit) {
  return {std::move(name), value, std::move(unit), true, "rank"};
}

/// What one phase of an operation did on one rank beside lasting.
struct phase_share {
  std::string name;
  double waited_seconds = 0;  ///< for other ranks: team::waited_seconds()
  traffic moved = {};
};

/// One variant, made ready on one rank. Every call is collective.
class measurement {
 public:
  virtual ~measurement() = default;
  /// Untimed, before each timed repetition: fresh input where the operation destroys its input.
  virtual void reset() {}
  /// Whether operations may follow each other without reset; then short ones are repeated within a repetition.
  [[nodiscard]] virtual bool repeatable() const { return true; }
  /// One operation; this is what is timed.
  virtual void run() = 0;
  /// Seconds of each phase of the last run on this rank, always the same names in the same order; empty: no phases.
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> phases() const { return {}; }
  /// What the phases of the last run did, always the same names in the same order; empty: it does not tell.
  [[nodiscard]] virtual std::vector<phase_share> phase_shares() const { return {}; }
  /// After each timed repetition, of so many operations since reset(): for what is counted beside the time. `seconds` are those of the
  /// record, of one operation over the ranks.
  virtual void timed([[maybe_unused]] const repetition& seconds, [[maybe_unused]] long iterations) {}
  /// Whether the result of the last run is right, on this rank; compares with an oracle computed another way.
  [[nodiscard]] virtual bool verify() = 0;
  /// What this rank moved in one operation.
  [[nodiscard]] virtual traffic moved() const { return {}; }
  /// The figures of docs/reference/figures.md. Called on all ranks with the same summary; the values of rank 0 count.
  [[nodiscard]] virtual std::vector<metric> metrics(const summary& seconds) = 0;
  /// What else is to be known of how it ran: members of the result's record, beside its figures. Called after metrics, on all
  /// ranks; the object of rank 0 counts.
  [[nodiscard]] virtual json facts() { return json::object(); }
};

/// Facts about a launch by which a pattern decides whether it can do a variant.
struct launch_facts {
  std::string transport;
  int ranks = 1, nodes = 1, largest_node = 1;
  std::uint64_t seed = 122222;
};

struct pattern {
  std::string name, help;
  std::vector<factor> factors;
  std::vector<std::string> examples;  ///< command lines for --help
  /// Why this variant cannot be run here, or nothing: on this rank, for which all give it up.
  std::function<std::optional<std::string>(const variant&, const launch_facts&)> why_not;
  /// Collective. errc::usage and errc::unsupported say that the variant makes no sense here: thrown on all ranks alike; it is
  /// then skipped with that reason. Any other error, such as errc::out_of_memory, ends the run. May be called more than once
  /// per variant.
  std::function<std::unique_ptr<measurement>(team&, const variant&, const launch_facts&)> make;
  /// Takes factors that have no effect in a variant out of it (contiguous buffers have no halo width), before why_not sees it.
  /// Variants that become equal by this are one.
  std::function<void(variant&)> settle = {};
  /// About how many bytes of symmetric memory (segments and channels) a rank has for a variant on so many ranks. Where memory of that kind
  /// must be set aside before anything starts, this much is.
  std::function<std::size_t(const variant&, int)> symmetric_bytes = {};
  /// Throws errc::usage when the levels that were asked for, by the names of factors, make no sense together. Called once, on
  /// each process, before anything is started.
  std::function<void(const std::map<std::string, std::vector<json>>&)> check = {};
};

// One file each: stream.cpp, gather.cpp, halo.cpp, sort.cpp, control.cpp.
[[nodiscard]] pattern stream_pattern();
[[nodiscard]] pattern gather_pattern();
[[nodiscard]] pattern halo_pattern();
[[nodiscard]] pattern sort_pattern();
[[nodiscard]] pattern control_pattern();

}  // namespace longshore::bench
