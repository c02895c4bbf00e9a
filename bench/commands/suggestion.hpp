// "Did you mean": the known word that is most similar to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace longshore::bench {

/// The word of `known` with the fewest insertions, deletions, replacements and swaps of neighbours
/// from `given`. Empty if every word is too different.
[[nodiscard]] std::string nearest_word(std::string_view given, std::span<const std::string> known);

/// "; did you mean 'X'?" for a message, or nothing.
[[nodiscard]] std::string suggestion(std::string_view given, std::span<const std::string> known);

}  // namespace longshore::bench
