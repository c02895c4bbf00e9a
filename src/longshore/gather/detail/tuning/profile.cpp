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
    "strategy buffer_items hops requests "
    "seconds turns";
constexpr std::size_t column_count = 16;
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
  for (const auto& known : gather_strategies)
    if (known.name == word && known.strategy != gather_strategy::automatic) {
      strategy = known.strategy;
      return true;
    }
  return false;
}

struct parsed_line {
  profile_key key;
  std::size_t lines = 0;  // number of lines of the measurement for this key
  timed_choice measured;
};

std::optional<parsed_line> parse_line(const std::vector<std::string_view>& w) {
  constexpr int max_ranks = 1 << 30;
  parsed_line line;
  auto& [key, lines, one] = line;
  if (w.size() != column_count) return std::nullopt;
  key.operation = w[1];
  key.table = w[2];
  const bool good =
      parse<std::size_t>(w[3], 1, std::size_t{1} << 40, key.element_bytes) &&
      parse(w[4], 1, max_ranks, key.layout.ranks) && parse(w[5], 1, max_ranks, key.layout.nodes) &&
      parse(w[6], 1, max_ranks, key.layout.node_ranks) &&
      parse_flag(w[7], key.layout.all_reachable) && parse_flag(w[8], key.combine) &&
      parse<std::size_t>(w[9], 1, 1000, lines) && parse_strategy(w[10], one.choice.strategy) &&
      parse<std::size_t>(w[11], 1, max_buffer_items, one.choice.buffer_items) &&
      parse(w[12], 0, 3, one.choice.hops) &&
      parse<std::size_t>(w[13], 1, std::size_t{1} << 40, one.requests) &&
      parse(w[14], 1e-12, 1e6, one.seconds) && parse(w[15], 1, 1'000'000, one.turns);
  return good ? std::optional(std::move(line)) : std::nullopt;
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
  struct unfinished {
    cell found;
    std::size_t lines;
  };
  std::vector<unfinished> found;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // an incomplete line
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto words = words_of(line);
    if (words.size() != column_count || words[0] == "#") continue;
    if (words[0] != machine_) {
      if (std::find(foreign_.begin(), foreign_.end(), line) == foreign_.end())
        foreign_.emplace_back(line);
      continue;
    }
    auto parsed = parse_line(words);
    if (!parsed) continue;
    auto at = std::find_if(found.begin(), found.end(),
                           [&](const unfinished& u) { return u.found.key == parsed->key; });
    if (at == found.end()) at = found.insert(found.end(), {{parsed->key, {}}, parsed->lines});
    at->found.measured.push_back(parsed->measured);
  }
  for (auto& [one, lines] : found)
    if (one.measured.size() == lines) put(one.key, std::move(one.measured));
  return true;
}

std::string tuning_profile::text() const {
  std::string mine;
  for (const auto& [key, measured] : cells_)
    for (const auto& one : measured)
      mine += fmt::format(
          "{} {} {} {} {} {} {} {:d} {:d} {} {} {} {} {} {:.4g} {}\n", machine_, key.operation,
          key.table, key.element_bytes, key.layout.ranks, key.layout.nodes, key.layout.node_ranks,
          key.layout.all_reachable, key.combine, measured.size(), name_of(one.choice.strategy),
          one.choice.buffer_items, one.choice.hops, one.requests, one.seconds, one.turns);
  std::string others;
  for (auto line = foreign_.rbegin(); line != foreign_.rend(); ++line) {  // the newest that fit
    if (mine.size() + others.size() + line->size() >= max_text_bytes) break;
    others.insert(0, *line + "\n");
  }
  return fmt::format("{}\n{}\n{}{}", first_line, columns, others, mine);
}

tuning_profile::cell* tuning_profile::cell_of(const profile_key& key) {
  for (auto& one : cells_)
    if (one.key == key) return &one;
  return nullptr;
}

std::vector<timed_choice> tuning_profile::find(const profile_key& key) const {
  for (const auto& one : cells_)
    if (one.key == key) return one.measured;
  return {};
}

void tuning_profile::put(const profile_key& key, std::vector<timed_choice> measured) {
  if (cell* const there = cell_of(key))
    there->measured = std::move(measured);
  else if (!measured.empty())
    cells_.push_back({key, std::move(measured)});
}

}  // namespace longshore::detail
