// Compares a mistyped word with each known word by the number of changes between them.
#include "commands/suggestion.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace longshore::bench {
namespace {

// The number of insertions, deletions, replacements and swaps of neighbours that turn a into b: the
// optimal string alignment distance (Damerau 1964, restricted). Keeps three rows of its table.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row_before_last(b.size() + 1), last_row(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last_row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last_row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last_row[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], row_before_last[j - 2] + 1);
    }
    std::swap(row_before_last, last_row);
    std::swap(last_row, row);  // the memory of the oldest row becomes the next row
  }
  return last_row[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view given, std::span<const std::string> known) {
  std::string best;
  std::size_t min_changes = 1 + given.size() / 3;  // more changes are no typing error
  for (const auto& word : known) {
    // A word that was begun and not finished counts as one change, however much is missing.
    const bool is_beginning = given.size() >= 3 && word.starts_with(given);
    const std::size_t changes = is_beginning ? 1 : distance(given, word);
    if (changes > min_changes || (changes == min_changes && !best.empty())) continue;
    min_changes = changes;
    best = word;
  }
  return best;
}

std::string suggestion(std::string_view given, std::span<const std::string> known) {
  const std::string word = nearest_word(given, known);
  return word.empty() ? "" : fmt::format("; did you mean '{}'?", word);
}

}  // namespace longshore::bench
