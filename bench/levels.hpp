// From what was typed after an option to the levels of a factor, or to a number; what does not fit is a usage error that names
// the option, what was given, and what is allowed.
#pragma once

#include "benchmark.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace longshore::bench {

/// A factor and the levels it is to take, each as it stands in a variant. No levels: not part of the variant.
struct factor_levels {
  std::string name;  ///< as typed: "task-count"
  std::vector<json> levels;
};

/// Largest count that an integer factor may have when its pattern does not say: 2^40 items per rank.
inline constexpr long largest_count = 1L << 40;

/// The levels in a comma-separated list. Triples are three numbers each: "64,64,64" is one level, six numbers are two.
[[nodiscard]] std::vector<json> parse_levels(const factor& what, std::string_view text);

/// The levels that a factor has when it is not given.
[[nodiscard]] std::vector<json> default_levels(const factor& what);

/// One whole number in [low, high], given to `option` ("--ranks").
[[nodiscard]] long parse_number(std::string_view option, std::string_view text, long low, long high);

/// What a factor may be, for messages and help: "one of a, b", "a whole number from 1 to 5", "...".
[[nodiscard]] std::string allowed_text(const factor& what);

/// The factor's name in a variant: "task_count".
[[nodiscard]] std::string variant_name(const factor& what);

}  // namespace longshore::bench
