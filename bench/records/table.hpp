// What a person reads at the end: a line per variant, the fastest of each group marked.
#pragma once

#include "records/recorder.hpp"

#include <string>
#include <vector>

namespace longshore::bench {

/// A table of what was measured and what was not, then why. The order is that of the command line, not of the walk. Variants that
/// differ only in what a user may choose (strategy, mode, ...) form a group; its winner is marked by the pattern's first metric.
[[nodiscard]] std::string table(const std::vector<table_row>& rows, bool colour);

/// Three significant digits with a unit: "1.25 ms".
[[nodiscard]] std::string seconds_text(double seconds);
/// Four significant digits: "1.234", "12340".
[[nodiscard]] std::string number_text(double value);

}  // namespace longshore::bench
