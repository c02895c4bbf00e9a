// Listens to a sweep: writes samples and results as records, keeps the rows of the table, shows the
// progress on a terminal.
#pragma once

#include "harness/sweep.hpp"
#include "records/record_file.hpp"

#include <string>
#include <variant>
#include <vector>

namespace longshore::bench {

/// A row of the table.
using table_row = std::variant<variant_result, skipped_variant>;

class recorder final : public observer {
 public:
  /// `show_progress`: false suppresses the progress line. A true value shows it if standard error
  /// is a terminal.
  recorder(std::string pattern_name, record_file& file, bool show_progress);
  ~recorder() override;

  void visit(int round, int rounds, std::size_t position, std::size_t positions,
             const variant& what) override;
  void sample(const variant& what, int repetition, std::size_t position,
              const bench::repetition& seconds) override;
  void result(const variant_result& what) override;
  void skipped(const skipped_variant& what) override;

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
