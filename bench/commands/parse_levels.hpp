// Parses the value of an option into levels of a factor, or into a number. A usage error names the
// option, its value and the allowed ones.
#pragma once

#include "harness/pattern.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace longshore::bench {

/// The levels of a comma-separated list. A triple is three numbers: "64,64,64" is one level, six
/// numbers are two.
[[nodiscard]] std::vector<json> parse_levels(const factor& what, std::string_view text);

/// The default levels of a factor.
[[nodiscard]] std::vector<json> default_levels(const factor& what);

/// One whole number in [low, high], the value of `option` ("--ranks").
[[nodiscard]] long parse_number(std::string_view option, std::string_view text, long low,
                                long high);

/// The allowed levels of a factor, for messages: "one of a, b", "a whole number from 1 to 5", ...
[[nodiscard]] std::string allowed_text(const factor& what);

}  // namespace longshore::bench
