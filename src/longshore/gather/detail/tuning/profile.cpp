// Parses and writes the lines of a profile. Lines of other machines are kept as they are, and
// invalid lines of this machine are dropped.
#include <longshore/gather/detail/tuning/profile.hpp>

#include <longshore/core/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace longshore::detail {
namespace {

constexpr std::string_view columns =
    "# machine operation table element_bytes ranks nodes node_ranks reachable combine lines "
    "strategy buffer_items hops requests seconds turns";
constexpr std::size_t column_count = 16;
static_assert(std::ranges::count(columns, ' ') == column_count, "one blank before each column");
constexpr std::size_t max_buffer_items = std::size_t{1} << 24;

template <class Number>
bool parse(std::string_view word, Number low, Number high, Number& value) {
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  return status == std::errc{} && end == word.data() + word.size() && value >= low && value <= high;
}

bool parse_flag(std::string_view word, bool& value) {
  int number = 0;
  if (!parse(word, 0, 1, number)) return false;
  value = number == 1;
  return true;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

bool parse_strategy(std::string_view word, gather_strategy& strategy) {
  for (const auto known : values_of<gather_strategy>())
    if (name_of(known) == word && known != gather_strategy::automatic) {
      strategy = known;
      return true;
    }
  return false;
}

struct parsed_line {
  profile_key key;
  std::size_t lines_of_key = 0;
  timed_choice measured;
};

// words[i] is column i of `columns`; the caller has compared words[0], the machine.
std::optional<parsed_line> parse_line(const std::vector<std::string_view>& words) {
  constexpr int max_ranks = 1 << 30;
  parsed_line line;
  auto& [key, lines_of_key, measured] = line;
  if (words.size() != column_count) return std::nullopt;
  key.operation = words[1];
  key.table = words[2];
  const bool is_valid =
      parse<std::size_t>(words[3], 1, std::size_t{1} << 40, key.element_bytes) &&
      parse(words[4], 1, max_ranks, key.layout.ranks) &&
      parse(words[5], 1, max_ranks, key.layout.nodes) &&
      parse(words[6], 1, max_ranks, key.layout.node_ranks) &&
      parse_flag(words[7], key.layout.all_reachable) && parse_flag(words[8], key.combine) &&
      parse<std::size_t>(words[9], 1, 1000, lines_of_key) &&
      parse_strategy(words[10], measured.choice.strategy) &&
      parse<std::size_t>(words[11], 1, max_buffer_items, measured.choice.buffer_items) &&
      parse(words[12], 0, 3, measured.choice.hops) &&
      parse<std::size_t>(words[13], 1, std::size_t{1} << 40, measured.requests) &&
      parse(words[14], 1e-12, 1e6, measured.seconds) &&
      parse(words[15], 1, 1'000'000, measured.turns);
  return is_valid ? std::optional(std::move(line)) : std::nullopt;
}

}  // namespace

bool operator==(const profile_key& a, const profile_key& b) noexcept {
  const auto numbers = [](const profile_key& k) {
    return std::array<std::size_t, 6>{k.element_bytes,
                                      static_cast<std::size_t>(k.layout.ranks),
                                      static_cast<std::size_t>(k.layout.nodes),
                                      static_cast<std::size_t>(k.layout.node_ranks),
                                      k.layout.all_reachable,
                                      k.combine};
  };
  return a.operation == b.operation && a.table == b.table && numbers(a) == numbers(b);
}

bool tuning_profile::read(std::string_view text) {
  if (text.substr(0, text.find('\n')) != first_line) return false;
  struct partial_entry {
    entry read;
    std::size_t lines_of_key;
  };
  std::vector<partial_entry> partial;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // an incomplete line
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto words = words_of(line);
    if (words.size() != column_count || words[0] == "#") continue;
    if (words[0] != machine_) {
      auto& others = foreign_lines_;
      if (std::find(others.begin(), others.end(), line) == others.end()) others.emplace_back(line);
      continue;
    }
    auto parsed = parse_line(words);
    if (!parsed) continue;
    auto known = std::find_if(partial.begin(), partial.end(), [&](const partial_entry& candidate) {
      return candidate.read.key == parsed->key;
    });
    if (known == partial.end())
      known = partial.insert(partial.end(), {{parsed->key, {}}, parsed->lines_of_key});
    known->read.measured.push_back(parsed->measured);
  }
  for (auto& [read, lines_of_key] : partial)
    if (read.measured.size() == lines_of_key) put(read.key, std::move(read.measured));
  return true;
}

std::string tuning_profile::text() const {
  std::string own_text;
  for (const auto& [key, measured] : entries_)
    for (const auto& timed : measured)
      own_text += fmt::format(
          "{} {} {} {} {} {} {} {:d} {:d} {} {} {} {} {} {:.4g} {}\n", machine_, key.operation,
          key.table, key.element_bytes, key.layout.ranks, key.layout.nodes, key.layout.node_ranks,
          key.layout.all_reachable, key.combine, measured.size(), name_of(timed.choice.strategy),
          timed.choice.buffer_items, timed.choice.hops, timed.requests, timed.seconds, timed.turns);
  std::string others_text;
  for (auto line = foreign_lines_.rbegin(); line != foreign_lines_.rend(); ++line) {
    if (own_text.size() + others_text.size() + line->size() >= max_text_bytes) break;
    others_text.insert(0, *line + "\n");
  }
  return fmt::format("{}\n{}\n{}{}", first_line, columns, others_text, own_text);
}

tuning_profile::entry* tuning_profile::entry_of(const profile_key& key) {
  for (auto& known : entries_)
    if (known.key == key) return &known;
  return nullptr;
}

std::vector<timed_choice> tuning_profile::find(const profile_key& key) const {
  for (const auto& known : entries_)
    if (known.key == key) return known.measured;
  return {};
}

void tuning_profile::put(const profile_key& key, std::vector<timed_choice> measured) {
  if (entry* const known = entry_of(key))
    known->measured = std::move(measured);
  else if (!measured.empty())
    entries_.push_back({key, std::move(measured)});
}

}  // namespace longshore::detail
