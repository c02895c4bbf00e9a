// "Did you mean": the known word that is most similar to a mistyped word.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace longshore::bench {

/// The word of `known` that `given` becomes with the fewest insertions, deletions, replacements and
/// swaps of neighbouring letters. Empty if every word needs too many changes.
[[nodiscard]] std::string nearest_word(std::string_view given, std::span<const std::string> known);

/// "; did you mean 'X'?" for the end of a message, or empty.
[[nodiscard]] std::string suggestion(std::string_view given, std::span<const std::string> known);

}  // namespace longshore::bench
