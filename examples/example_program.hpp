// What the example programs share besides their data: the command line, the launch, timing, the
// verdict, and what is printed.
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

/// Exit statuses: as those of longshore-bench.
enum exit_status : int { all_right = 0, wrong_result = 1, wrong_usage = 2, runtime_failure = 3 };

/// One rank's view of a run. All calls that are not const are collective.
class program {
 public:
  program(std::string name, longshore::team& team, const command_line& options);

  [[nodiscard]] longshore::team& team() const noexcept { return team_; }
  [[nodiscard]] const command_line& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t size() const { return options_.whole("size"); }
  [[nodiscard]] std::uint64_t seed() const { return options_.whole("seed"); }

  /// What an engine of class conveyor is made with to be the one that the command line names: all
  /// of them are routes of one class. `wanted`: what the program itself needs of it.
  template <class Item>
  [[nodiscard]] longshore::engine_options engine_for(longshore::engine_options wanted = {}) const {
    wanted.item_bytes = sizeof(Item);
    return as_chosen(wanted);
  }
  /// The same choice for gather_plan.
  [[nodiscard]] longshore::gather_options gather() const;

  /// Runs `operation` --repetitions times between barriers, and prints for each the seconds of the
  /// slowest rank.
  void measure(const std::function<void()>& operation);

  /// A figure of the last line that is printed; the value of rank 0 counts.
  void figure(const std::string& figure_name, std::int64_t value);
  /// The same with the sum over the ranks.
  void total(const std::string& figure_name, std::int64_t my_value);
  /// Figures NAME and NAME_per_second, from the sum over ranks of the items that one operation had,
  /// and its median time.
  void rate(const std::string& items_name, std::uint64_t my_items);

  /// Whether the result shall be compared with a serial run.
  [[nodiscard]] bool verifies() const { return options_.word("verify") == "yes"; }
  /// What is wrong with the result, as this rank sees it; empty: nothing. The message of the lowest
  /// rank that has one is printed.
  void verify(const std::string& problem);

  /// Prints the last line. The exit status of the program, the same on all ranks.
  [[nodiscard]] exit_status finish();

 private:
  [[nodiscard]] longshore::engine_options as_chosen(longshore::engine_options options) const;
  [[nodiscard]] double median_seconds() const;

  std::string name_;
  longshore::team& team_;
  const command_line& options_;
  std::vector<double> seconds_;  // of the repetitions, sorted
  std::vector<std::pair<std::string, std::string>> figures_;
  bool verified_ = false, wrong_ = false;
};

/// What a program tells of itself.
struct description {
  std::string name, about;
  std::string size_is;               ///< what --size counts
  std::uint64_t size = 20000;        ///< its default
  std::vector<option> options = {};  ///< besides those that all have
};

/// Parses the command line, starts the ranks, and runs `body` on each; returns the exit status.
[[nodiscard]] int run_program(int argc, char** argv, const description& about,
                              const std::function<void(program&)>& body);

}  // namespace examples
