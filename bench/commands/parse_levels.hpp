// Parses the value of an option into levels of a factor, or into a number. The message of
// errc::usage names the option, its value and the allowed values.
#pragma once

#include "harness/pattern.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::bench {

/// The word of `known` that `given` becomes with the fewest insertions, deletions, replacements and
/// swaps of neighbouring letters. Empty if every word needs too many changes.
[[nodiscard]] std::string nearest_word(std::string_view given, std::span<const std::string> known);

/// "; did you mean 'X'?" for the end of a message, or empty.
[[nodiscard]] std::string suggestion(std::string_view given, std::span<const std::string> known);

[[nodiscard]] std::vector<std::string_view> split_at_commas(std::string_view text);

/// The levels of a comma-separated list. Three numbers make one level of a triple: "64,64,64".
[[nodiscard]] std::vector<json> parse_levels(const factor& factor, std::string_view text);

[[nodiscard]] std::vector<json> default_levels(const factor& factor);

/// A whole number in [low, high]. `option` is named in the message of an error: "--ranks".
[[nodiscard]] long parse_number(std::string_view option, std::string_view text, long low,
                                long high);

}  // namespace longshore::bench
