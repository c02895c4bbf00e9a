// The table at the end of a launch: one line per variant.
#pragma once

#include "records/recorder.hpp"

#include <string>
#include <vector>

namespace longshore::bench {

/// Lines of the measured variants, ordered as on the command line, then the reasons of skipped
/// variants. Variants that differ only in a choice of the user (strategy, mode, ...) form a group.
/// The variant with the best first metric of each group is marked, and those within its spread.
[[nodiscard]] std::string table(const std::vector<table_row>& rows, bool colour);

/// Three significant digits with a unit: "1.25 ms".
[[nodiscard]] std::string seconds_text(double seconds);
/// Four significant digits: "1.234", "12340".
[[nodiscard]] std::string number_text(double value);

}  // namespace longshore::bench
