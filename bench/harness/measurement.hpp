// One variant of a pattern, ready to be timed on one rank, and the numbers that come of it.
#pragma once

#include <longshore/transport/traffic.hpp>

#include "facts/json.hpp"

#include <string>
#include <utility>
#include <vector>

namespace longshore::bench {

/// One level of each factor, named as in the record: words are strings, integers are numbers,
/// triples are arrays of three numbers: {"kernel":"triad","elements":1000000,...},
/// {"domain":[64,64,64],...}. A factor without a value and without a default is absent.
using variant = json;

/// One timed repetition: statistics over the ranks of the seconds of one operation.
struct repetition {
  double max = 0, median = 0, min = 0, mean = 0;
  std::vector<std::pair<std::string, double>> phases;  ///< maximum over ranks
  std::vector<double> least_of_phases;  ///< minimum over ranks, in the order of phases
};

/// Statistics of the timed repetitions, in seconds of one operation: over repetitions of the
/// maximum over ranks.
struct summary {
  double median = 0, p10 = 0, p90 = 0, best = 0;
  /// Median over repetitions of the mean over ranks, as bale and ISx report it
  double mean_over_ranks_median = 0;
  /// Median over repetitions of the maximum over ranks, by phase
  std::vector<std::pair<std::string, double>> phases;
};

struct metric {
  std::string name;
  double value;
  std::string unit;
  bool higher_is_better = true;
  /// "node" or "rank" in the table: the value of one of them; empty: the value of all together
  std::string per = "";
};

/// A rate per node.
[[nodiscard]] inline metric per_node(std::string name, double value, std::string unit) {
  return {std::move(name), value, std::move(unit), true, "node"};
}

/// A rate per rank.
[[nodiscard]] inline metric per_rank(std::string name, double value, std::string unit) {
  return {std::move(name), value, std::move(unit), true, "rank"};
}

/// Waiting and traffic of one phase of an operation on one rank.
struct phase_share {
  std::string name;
  double waited_seconds = 0;  ///< for other ranks: team::waited_seconds()
  traffic moved = {};
};

/// One variant on one rank. Every call is collective.
class measurement {
 public:
  virtual ~measurement() = default;
  /// Untimed, before each timed repetition: prepares fresh input where the operation destroys its
  /// input.
  virtual void reset() {}
  /// Whether operations may follow each other without reset(). The harness then repeats short ones
  /// within a repetition.
  [[nodiscard]] virtual bool repeatable() const { return true; }
  /// One operation: the timed part.
  virtual void run() = 0;
  /// Seconds of each phase of the last run on this rank, always the same names in the same order;
  /// empty: no phases.
  [[nodiscard]] virtual std::vector<std::pair<std::string, double>> phases() const { return {}; }
  /// Waiting and traffic of the phases of the last run, always the same names in the same order;
  /// empty: not known.
  [[nodiscard]] virtual std::vector<phase_share> phase_shares() const { return {}; }
  /// Called after each timed repetition, with its seconds of one operation and the number of
  /// operations since reset(): the place to collect counts beside the time.
  virtual void timed([[maybe_unused]] const repetition& seconds, [[maybe_unused]] long iterations) {
  }
  /// Whether the result of the last run is right on this rank. Compares with an oracle that is
  /// computed another way.
  [[nodiscard]] virtual bool verify() = 0;
  /// Traffic of this rank in one operation.
  [[nodiscard]] virtual traffic moved() const { return {}; }
  /// The figures of docs/reference/figures.md. Called on all ranks with the same summary; the
  /// values of rank 0 count.
  [[nodiscard]] virtual std::vector<metric> metrics(const summary& seconds) = 0;
  /// Further members of the result's record, beside its figures. Called after metrics() on all
  /// ranks; the object of rank 0 counts.
  [[nodiscard]] virtual json facts() { return json::object(); }
};

}  // namespace longshore::bench
