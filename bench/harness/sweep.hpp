// The sweep over all variants of a launch. First, each variant is prepared and verified. Then every
// round runs all variants in a newly shuffled order, so that a drift of the machine affects all
// variants alike.
#pragma once

#include <longshore/transport/team.hpp>

#include "facts/clock.hpp"
#include "harness/line_probe.hpp"
#include "harness/pattern.hpp"
#include "harness/variants.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace longshore::bench {

/// Which results are verified, outside of the timed part.
enum class verification {
  all,   ///< that of the first run, and that of each timed repetition
  ends,  ///< that of the first run, and that of the last repetition
  no
};

/// The names of the enumerators, in their order, as users write them.
inline constexpr std::array<const char*, 3> verification_names = {"all", "ends", "no"};

struct sweep_options {
  int repetitions = 10, warmup = 1;
  /// Operations per repetition. If 0, each variant gets enough to last about 5 ms.
  long iterations = 0;
  std::uint64_t seed = 122222;
  verification verify = verification::all;
  bool shuffle = true, noise_probe = true;
  bool phases = false;  ///< whether phases are timed, for patterns with times_phases
};

/// The result of a variant, after its last repetition.
struct variant_result {
  variant levels = {};
  std::size_t index = 0;              ///< in variants::to_run, in the order of the command line
  std::optional<bool> verified = {};  ///< nothing if verification was not requested
  int repetitions = 0;
  long iterations = 1;
  /// False if the measurement was made again for each visit, because the measurements of all
  /// variants would need too much memory.
  bool made_once = true;
  summary seconds = {};
  /// Noise probe: maximum over ranks of the median over repetitions. Nothing without a probe.
  std::optional<double> probe_seconds = {};
  /// Line probe. Nothing without a noise probe, if no ranks share a node, or if ranks share cores.
  std::optional<cache_line_seconds> cache_line = {};
  phase_seconds median_phase_minima = {};  ///< see statistics.hpp
  phase_seconds median_phase_means = {};   ///< empty unless sweep_options::phases
  traffic moved = {};                      ///< traffic of all ranks in one operation
  std::vector<metric> metrics = {};
  json facts = json::object();  ///< measurement::collect_facts() and counters
  std::string warning = {};     ///< empty if there is none
};

/// Learns about the progress and the results of a sweep, on rank 0.
class observer {
 public:
  virtual ~observer() = default;
  /// Called before each visit of a variant. `round` is -1 during the preparation, then 0 to
  /// rounds - 1 over untimed and timed rounds.
  virtual void visit(int round, int rounds, std::size_t position, std::size_t positions,
                     const variant& levels) = 0;
  virtual void sample(const variant& levels, int repetition, std::size_t position,
                      const bench::repetition& seconds) = 0;
  virtual void result(const variant_result& measured) = 0;
  virtual void skipped(const skipped_variant& skip) = 0;
};

/// Numbers of variants at the end of a sweep: variants that ran, variants among them with a wrong
/// result, and variants that were skipped.
struct sweep_outcome {
  int ran = 0, wrong = 0, skipped = 0;
};

struct sweep_setting {
  const pattern& measured;
  launch_facts launch;
  sweep_options options;
  clock_facts clock;
  int max_processes_per_host = 1;  ///< 1 if ranks are threads
};

/// Collective. Measures all variants to run. `listener` is null except on rank 0. The outcome is
/// the same on all ranks.
[[nodiscard]] sweep_outcome sweep(team& team, const sweep_setting& setting, const variants& chosen,
                                  observer* listener);

}  // namespace longshore::bench
