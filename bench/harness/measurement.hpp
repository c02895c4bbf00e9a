// One variant of a pattern, ready to be timed on one rank, and the numbers of its timing.
#pragma once

#include <longshore/transport/traffic.hpp>

#include "facts/json.hpp"

#include <string>
#include <utility>
#include <vector>

namespace longshore::bench {

/// One level of each factor, as in the record: words are strings, integers are numbers, triples are
/// arrays of three numbers: {"strategy":"agp","requests":1000,"domain":[64,64,64]}. A factor
/// without a value and without a default is absent.
using variant = json;

/// Seconds by name of a phase.
using phase_seconds = std::vector<std::pair<std::string, double>>;

/// Statistics over ranks of one timed repetition, in seconds of one operation.
struct repetition {
  double max = 0, median = 0, min = 0, mean = 0;
  phase_seconds phases = {};  ///< maximum over ranks
  /// Minimum and mean over ranks, in the order of phases
  std::vector<double> phase_minima = {}, phase_means = {};
  double real_seconds = 0;  ///< of the host, to simulate the operation; else 0
  double events = 0;        ///< of a simulation, for the operation of all ranks
};

/// Statistics over the timed repetitions of a variant, in seconds of one operation. The value of a
/// repetition is its maximum over ranks, except in mean_over_ranks_median.
struct summary {
  double median = 0, p10 = 0, p90 = 0, best = 0;
  /// Median over repetitions of the mean over ranks, as bale and ISx report it
  double mean_over_ranks_median = 0;
  phase_seconds phases;  ///< median over repetitions of repetition::phases
};

struct metric {
  std::string name;
  double value;
  std::string unit;
  bool higher_is_better = true;
  /// "node" or "rank" if the value is that of one node or one rank; else empty
  std::string per = "";
};

/// A rate per node. Higher values are better.
[[nodiscard]] inline metric per_node(std::string name, double value, std::string unit) {
  return {.name = std::move(name), .value = value, .unit = std::move(unit), .per = "node"};
}

[[nodiscard]] inline metric per_rank(std::string name, double value, std::string unit) {
  return {.name = std::move(name), .value = value, .unit = std::move(unit), .per = "rank"};
}

/// What one phase of an operation costs on one rank besides computing: waiting and traffic.
struct phase_cost {
  std::string name;
  double waited_seconds = 0;  ///< waiting for other ranks: team::waited_seconds()
  traffic moved = {};
};

/// One variant on one rank. Every call is collective. Lists of phases always have the same names in
/// the same order.
class measurement {
 public:
  virtual ~measurement() = default;
  /// Called before each timed repetition. Prepares new input if the operation destroys its input.
  virtual void reset() {}
  /// Whether operations may follow each other without reset(). If so, the harness repeats a short
  /// operation within a repetition.
  [[nodiscard]] virtual bool repeatable() const { return true; }
  /// One operation: the timed part.
  virtual void run() = 0;
  /// Whether the following operations time their phases. Called for patterns with times_phases,
  /// whose operations do not time them before.
  virtual void time_phases([[maybe_unused]] bool on) {}
  /// Seconds of each phase of the last run on this rank. Empty if the operation has no phases, or
  /// does not time them.
  [[nodiscard]] virtual phase_seconds phases() const { return {}; }
  /// Waiting and traffic of the phases of the last run. Empty if unknown.
  [[nodiscard]] virtual std::vector<phase_cost> phase_costs() const { return {}; }
  /// Called after each timed repetition, with its statistics and the number of operations since
  /// reset(). A pattern can collect its own counts here.
  virtual void timed([[maybe_unused]] const repetition& seconds, [[maybe_unused]] long iterations) {
  }
  /// Whether the result of the last run is right on this rank, by comparison with a result that is
  /// computed in another way.
  [[nodiscard]] virtual bool verify() = 0;
  /// Traffic of this rank in one operation.
  [[nodiscard]] virtual traffic moved() const { return {}; }
  /// The figures of docs/reference/figures.md. All ranks get the same summary; the values of rank 0
  /// are recorded.
  [[nodiscard]] virtual std::vector<metric> metrics(const summary& seconds) = 0;
  /// Collective: ranks may agree or measure here. Returns further members of the result's record,
  /// beside its figures. Called after metrics(); the object of rank 0 is recorded.
  [[nodiscard]] virtual json collect_facts() { return json::object(); }
};

}  // namespace longshore::bench
