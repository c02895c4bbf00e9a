// The sweep over all variants of a launch. Each variant is prepared and verified once. Then every
// round runs all of them, in a newly shuffled order, so that a drift of the machine affects all
// alike.
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

/// The result of a variant, after its last repetition.
struct variant_result {
  variant what = {};
  std::size_t index = 0;              ///< among the variants to run, ordered as on the command line
  std::optional<bool> verified = {};  ///< nothing: not requested
  int repetitions = 0;
  long iterations = 1;
  bool made_once = true;  ///< false: made for each visit, because all together need too much memory
  summary seconds = {};
  /// Noise probe: median over repetitions, maximum over ranks; nothing: not measured
  std::optional<double> probe_seconds = {};
  std::vector<std::pair<std::string, double>> least_of_phases = {};  ///< statistics.hpp
  traffic moved = {};  ///< by all ranks in one operation
  std::vector<metric> metrics = {};
  json facts = json::object();  ///< of the pattern: measurement::facts
  std::string warning = {};     ///< empty: none
};

/// Learns on rank 0 about the progress and the results of a sweep.
class observer {
 public:
  virtual ~observer() = default;
  /// Before each visit. `round` is -1 during the preparation, then 0 ... rounds - 1 over untimed
  /// and timed rounds.
  virtual void visit(int round, int rounds, std::size_t position, std::size_t positions,
                     const variant& what) = 0;
  virtual void sample(const variant& what, int repetition, std::size_t position,
                      const bench::repetition& seconds) = 0;
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

/// Collective. Measures all variants to run; `listener` is null on the other ranks than 0. The
/// outcome is the same on all ranks.
[[nodiscard]] sweep_outcome sweep(team& team, const sweep_setting& setting, const variants& chosen,
                                  observer* listener);

}  // namespace longshore::bench
