// Splits the text of an option at its commas, and checks each part against the words or the range
// that its factor allows. Compares a mistyped word with each known word by the number of changes
// between them.
#include "commands/parse_levels.hpp"

#include <longshore/core/error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace longshore::bench {
namespace {

constexpr std::size_t triple_size = 3;

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

std::optional<long> whole_number(std::string_view text, long low, long high) {
  long value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end || value < low || value > high) return std::nullopt;
  return value;
}

// The allowed levels, for messages: "one of a, b", "a whole number from 1 to 5", ...
std::string allowed_text(const factor& factor) {
  if (factor.type == factor::kind::word)
    return fmt::format("one of {}", fmt::join(factor.allowed, ", "));
  if (factor.type == factor::kind::text) return "a text without commas";
  if (factor.type == factor::kind::integer)
    return fmt::format("a whole number from {} to {}", factor.low, factor.high);
  return fmt::format("one of three whole numbers X,Y,Z, each from {} to {}", factor.low,
                     factor.high);
}

[[noreturn]] void refuse(const factor& factor, std::string_view text, std::string_view part,
                         const std::string& hint = "") {
  const std::string which =
      part.size() == text.size() ? std::string() : fmt::format(" in '{}'", text);
  fail(errc::usage, "--{}: '{}'{} is not {}{}", factor.name, part, which, allowed_text(factor),
       hint);
}

json parse_level(const factor& factor, std::string_view text, std::string_view part) {
  if (factor.type == factor::kind::word) {
    if (std::find(factor.allowed.begin(), factor.allowed.end(), part) == factor.allowed.end())
      refuse(factor, text, part, suggestion(part, factor.allowed));
    return std::string(part);
  }
  if (factor.type == factor::kind::text) return std::string(part);
  const auto value = whole_number(part, factor.low, factor.high);
  if (!value) refuse(factor, text, part);
  return *value;
}

std::vector<json> in_triples(const factor& factor, std::string_view text,
                             const std::vector<json>& numbers) {
  if (numbers.size() % triple_size != 0)
    fail(errc::usage,
         "--{}: '{}' has {} numbers; three each make one level: X,Y,Z or X1,Y1,Z1,X2,Y2,Z2",
         factor.name, text, numbers.size());
  std::vector<json> triples;
  for (std::size_t i = 0; i < numbers.size(); i += triple_size)
    triples.push_back(json::array({numbers[i], numbers[i + 1], numbers[i + 2]}));
  return triples;
}

std::string text_of(const json& level) {
  return level.is_string() ? level.get<std::string>() : level.dump();
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

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0;;) {
    const std::size_t comma = text.find(',', start);
    parts.push_back(text.substr(start, comma - start));
    if (comma == std::string_view::npos) return parts;
    start = comma + 1;
  }
}

std::vector<json> parse_levels(const factor& factor, std::string_view text) {
  if (text.empty())
    fail(errc::usage, "--{}: nothing is given; it takes {}", factor.name, allowed_text(factor));
  std::vector<json> levels;
  for (const auto part : split_at_commas(text)) {
    if (part.empty())
      fail(errc::usage, "--{}: '{}' has an empty level between, before or after its commas",
           factor.name, text);
    levels.push_back(parse_level(factor, text, part));
  }
  if (factor.type == factor::kind::triple) levels = in_triples(factor, text, levels);
  for (auto level = levels.begin(); level != levels.end(); ++level)
    if (std::find(levels.begin(), level, *level) != level)
      fail(errc::usage, "--{}: '{}' has {} twice; each level is given once", factor.name, text,
           text_of(*level));
  return levels;
}

std::vector<json> default_levels(const factor& factor) {
  return factor.defaults.empty() ? std::vector<json>() : parse_levels(factor, factor.defaults);
}

long parse_number(std::string_view option, std::string_view text, long low, long high) {
  const auto value = whole_number(text, low, high);
  if (!value)
    fail(errc::usage, "{}: '{}' is not a whole number from {} to {}", option, text, low, high);
  return *value;
}

}  // namespace longshore::bench
