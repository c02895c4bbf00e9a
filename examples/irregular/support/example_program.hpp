// The frame of the example programs: command line, launch, timing, verification and output.
#pragma once

#include <longshore/aggregate/engine_options.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/team.hpp>

#include "command_line.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace examples {

/// The same exit statuses as those of longshore-bench.
enum exit_status : int { all_right = 0, wrong_result = 1, wrong_usage = 2, runtime_failure = 3 };

/// A run, as one rank sees it. All calls that are not const are collective.
class program {
 public:
  program(std::string name, longshore::team& team, const command_line& options);

  [[nodiscard]] longshore::team& team() const noexcept { return team_; }
  [[nodiscard]] const command_line& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t size() const { return options_.whole("size"); }
  [[nodiscard]] std::uint64_t seed() const { return options_.whole("seed"); }

  /// The options of longshore::conveyor that make the engine of the command line. All engines are
  /// routes of class conveyor. `wanted` holds the options that the program needs.
  template <class Item>
  [[nodiscard]] longshore::engine_options engine_for(longshore::engine_options wanted = {}) const {
    wanted.item_bytes = sizeof(Item);
    return with_chosen_engine(wanted);
  }
  /// The options of gather_plan for the engine of the command line.
  [[nodiscard]] longshore::gather_options gather() const;

  /// Runs `operation` --repetitions times. Prints the seconds of the slowest rank for every
  /// repetition, measured between barriers.
  void measure(const std::function<void()>& operation);

  /// Adds NAME=VALUE to the last line of the output. The value of rank 0 counts.
  void metric(const std::string& metric_name, std::int64_t value);
  /// Adds the sum of the values of all ranks.
  void total(const std::string& metric_name, std::int64_t my_value);
  /// Adds the number of items of one operation on all ranks, and NAME_per_second: this number
  /// divided by the median time.
  void rate(const std::string& items_name, std::uint64_t my_items);

  /// Whether to compare the result with a serial run.
  [[nodiscard]] bool verifies() const { return options_.word("verify") == "yes"; }
  /// Reports the problem that this rank found in the result, or "" without a problem. The lowest
  /// rank with a problem prints its problem.
  void verify(const std::string& problem);

  /// Prints the last line. Returns the exit status of the program, the same on all ranks.
  [[nodiscard]] exit_status finish();

 private:
  [[nodiscard]] longshore::engine_options with_chosen_engine(
      longshore::engine_options options) const;
  [[nodiscard]] double median_seconds() const;

  std::string name_;
  longshore::team& team_;
  const command_line& options_;
  std::vector<double> seconds_;  // of the repetitions, sorted
  std::vector<std::pair<std::string, std::string>> metrics_;
  bool verified_ = false, wrong_ = false;
};

/// The name, purpose and options of a program.
struct description {
  std::string name, about;
  std::string size_is;               ///< the things that --size counts
  std::uint64_t size = 20000;        ///< the default of --size
  std::vector<option> options = {};  ///< in addition to the options of all programs
};

/// Parses the command line, starts the ranks, and runs `body` on every rank. Returns the exit
/// status.
[[nodiscard]] int run_program(int argc, char** argv, const description& about,
                              const std::function<void(program&)>& body);

}  // namespace examples
