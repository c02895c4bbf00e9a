// The walk over all variants of a launch: each is made ready and verified once, then all are visited in each round, in an order
// shuffled anew, so that a drift of the machine meets all of them alike.
#pragma once

#include <longshore/transport/team.hpp>

#include "facts/clock.hpp"
#include "harness/pattern.hpp"
#include "harness/sweep_options.hpp"
#include "harness/variants.hpp"

#include <optional>
#include <string>
#include <vector>

namespace longshore::bench {

/// What is known of a variant after its last repetition.
struct variant_result {
  variant what = {};
  std::size_t index = 0;              ///< among the variants to run, in the order of the command line
  std::optional<bool> verified = {};  ///< nothing: it was not asked for
  int repetitions = 0;
  long iterations = 1;
  bool made_once = true;  ///< else made anew for each visit, because all together would have taken too much memory
  summary seconds = {};
  std::optional<double> probe_seconds = {};  ///< median over the repetitions of the maximum over ranks; nothing: not measured
  std::vector<std::pair<std::string, double>> least_of_phases = {};  ///< statistics.hpp
  traffic moved = {};                                                ///< by all ranks in one operation
  std::vector<metric> metrics = {};
  json facts = json::object();  ///< of the pattern: measurement::facts
  std::string warning = {};     ///< empty: none
};

/// Who is told what happens, on rank 0.
class observer {
 public:
  virtual ~observer() = default;
  /// Before each visit; `round` is -1 while variants are made ready, else 0 ... rounds - 1 over untimed and timed rounds.
  virtual void visit(int round, int rounds, std::size_t position, std::size_t positions, const variant& what) = 0;
  virtual void sample(const variant& what, int repetition, std::size_t position, const bench::repetition& seconds) = 0;
  virtual void result(const variant_result& what) = 0;
  virtual void skipped(const skipped_variant& what) = 0;
};

struct sweep_outcome {
  int ran = 0, wrong = 0, skipped = 0;
};

struct sweep_setting {
  const pattern& program;
  launch_facts launch;
  sweep_options how;
  clock_facts clock;
  int ranks_sharing_memory = 1;  ///< processes per host, at most; 1 where ranks are threads
};

/// Collective. Measures all of `chosen`; `told` is null on the ranks that tell nobody. The outcome is the same on all ranks.
[[nodiscard]] sweep_outcome sweep(team& team, const sweep_setting& setting, const variants& chosen, observer* told);

}  // namespace longshore::bench
