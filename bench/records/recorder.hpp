// The observer of a sweep on rank 0. It does three things: it writes samples and results as
// records, keeps the rows of the table, and shows the progress in a line of the terminal.
#pragma once

#include "harness/sweep.hpp"
#include "records/record_file.hpp"

#include <string>
#include <variant>
#include <vector>

namespace longshore::bench {

/// A variant that ran, or one that was skipped with a reason.
using table_row = std::variant<variant_result, skipped_variant>;

/// REQUIRES: `file` outlives the recorder.
class recorder final : public observer {
 public:
  /// The progress line is shown if `show_progress` is true and standard error is a terminal. Under
  /// a launcher measure.cpp sets it to false, because launchers often imitate a terminal.
  recorder(std::string pattern_name, record_file& file, bool show_progress);
  ~recorder() override;

  void visit(int round, int rounds, std::size_t position, std::size_t positions,
             const variant& levels) override;
  void sample(const variant& levels, int repetition, std::size_t position,
              const bench::repetition& seconds) override;
  void result(const variant_result& measured) override;
  void skipped(const skipped_variant& skip) override;

  [[nodiscard]] const std::vector<table_row>& rows() const noexcept { return rows_; }
  /// Removes the progress line from the terminal.
  void clear_progress();

 private:
  std::string pattern_name_;
  record_file& file_;
  std::vector<table_row> rows_;
  bool on_terminal_;
  bool line_shown_ = false;
  double last_shown_ = 0;
};

/// The last record of a complete launch.
[[nodiscard]] json end_record(const sweep_outcome& outcome);
/// The last record of a launch that failed.
[[nodiscard]] json failed_record(const char* kind, const char* message);

}  // namespace longshore::bench
