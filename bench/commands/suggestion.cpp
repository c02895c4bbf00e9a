#include "commands/suggestion.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace longshore::bench {
namespace {

// Optimal string alignment distance (Damerau 1964, restricted): three rows of the table are enough.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view given, std::span<const std::string> known) {
  std::string best;
  std::size_t least = 1 + given.size() / 3;  // more changes make another word, not a slip
  for (const auto& word : known) {
    const bool begun = given.size() >= 3 && word.starts_with(given);
    const std::size_t far = begun ? 1 : distance(given, word);
    if (far > least || (far == least && !best.empty())) continue;
    least = far;
    best = word;
  }
  return best;
}

std::string suggestion(std::string_view given, std::span<const std::string> known) {
  const std::string word = nearest_word(given, known);
  return word.empty() ? "" : fmt::format("; did you mean '{}'?", word);
}

}  // namespace longshore::bench
