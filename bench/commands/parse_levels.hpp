// From what was typed after an option to the levels of a factor, or to a number; what does not fit is a usage error that names
// the option, what was given, and what is allowed.
#pragma once

#include "harness/pattern.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace longshore::bench {

/// The levels in a comma-separated list. Triples are three numbers each: "64,64,64" is one level, six numbers are two.
[[nodiscard]] std::vector<json> parse_levels(const factor& what, std::string_view text);

/// The levels that a factor has when it is not given.
[[nodiscard]] std::vector<json> default_levels(const factor& what);

/// One whole number in [low, high], given to `option` ("--ranks").
[[nodiscard]] long parse_number(std::string_view option, std::string_view text, long low, long high);

/// What a factor may be, for messages and help: "one of a, b", "a whole number from 1 to 5", "...".
[[nodiscard]] std::string allowed_text(const factor& what);

}  // namespace longshore::bench
