// Parses and writes the lines of a profile. Lines of other machines are kept as they are, and
// invalid lines of this machine are dropped.
#include <longshore/gather/detail/tuning/profile.hpp>

#include <longshore/core/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <istream>
#include <locale>
#include <optional>
#include <sstream>

namespace longshore::detail {
namespace {

constexpr std::string_view columns =
    "# machine operation table element_bytes ranks nodes node_ranks reachable combine lines "
    "strategy buffer_items hops requests seconds turns";
constexpr std::ptrdiff_t column_count = 16;
static_assert(std::ranges::count(columns, ' ') == column_count, "one blank before each column");

constexpr int key_columns = 8;  // after the machine

struct parsed_line {
  std::string key;
  std::size_t lines_of_key = 0;
  timed_choice measured;
};

// Reads a whole number in [low, high].
template <class Number>
bool read_number(std::istream& in, std::int64_t low, std::int64_t high, Number& value) {
  std::int64_t number = 0;
  if (!(in >> number) || number < low || number > high) return false;
  value = static_cast<Number>(number);
  return true;
}

bool read_strategy(std::istream& in, gather_strategy& strategy) {
  std::string name;
  in >> name;
  const auto& names = all_names<gather_strategy>.names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return false;
  strategy = values_of<gather_strategy>()[static_cast<std::size_t>(found - names.begin())];
  return strategy != gather_strategy::automatic;
}

// Reads the columns after the machine.
std::optional<parsed_line> parse_line(std::istream& in) {
  constexpr std::int64_t max_items = std::int64_t{1} << 40, max_buffer_items = 1 << 24;
  parsed_line line;
  auto& [key, lines_of_key, measured] = line;
  std::string word;
  for (int column = 0; column < key_columns && in >> word; ++column)
    key += (key.empty() ? "" : " ") + word;
  const bool is_valid =
      read_number(in, 1, 1000, lines_of_key) && read_strategy(in, measured.choice.strategy) &&
      read_number(in, 1, max_buffer_items, measured.choice.buffer_items) &&
      read_number(in, 0, 3, measured.choice.hops) &&
      read_number(in, 1, max_items, measured.requests) && in >> measured.seconds &&
      measured.seconds >= 1e-12 && measured.seconds <= 1e6 &&
      read_number(in, 1, 1'000'000, measured.turns) && (in >> std::ws).eof();
  return is_valid ? std::optional(std::move(line)) : std::nullopt;
}

}  // namespace

std::string profile_key::text() const {
  return fmt::format("{} {} {} {} {} {} {:d} {:d}", operation, table, element_bytes, layout.ranks,
                     layout.nodes, layout.node_ranks, layout.all_reachable, combine);
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
    if (std::ranges::count(line, ' ') + 1 != column_count) continue;
    std::istringstream in{std::string(line)};
    in.imbue(std::locale::classic());
    std::string machine;
    in >> machine;
    if (machine != machine_) {
      auto& others = foreign_lines_;
      if (std::find(others.begin(), others.end(), line) == others.end()) others.emplace_back(line);
      continue;
    }
    auto parsed = parse_line(in);
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
      own_text += fmt::format("{} {} {} {} {} {} {} {:.4g} {}\n", machine_, key, measured.size(),
                              name_of(timed.choice.strategy), timed.choice.buffer_items,
                              timed.choice.hops, timed.requests, timed.seconds, timed.turns);
  std::string others_text;
  for (auto line = foreign_lines_.rbegin(); line != foreign_lines_.rend(); ++line) {
    if (own_text.size() + others_text.size() + line->size() >= max_text_bytes) break;
    others_text.insert(0, *line + "\n");
  }
  return fmt::format("{}\n{}\n{}{}", first_line, columns, others_text, own_text);
}

std::vector<timed_choice> tuning_profile::find(const profile_key& key) const {
  for (const auto& known : entries_)
    if (known.key == key.text()) return known.measured;
  return {};
}

void tuning_profile::put(const profile_key& key, std::vector<timed_choice> measured) {
  put(key.text(), std::move(measured));
}

void tuning_profile::put(const std::string& key, std::vector<timed_choice> measured) {
  std::erase_if(entries_, [&](const entry& known) { return known.key == key; });
  if (!measured.empty()) entries_.push_back({key, std::move(measured)});
}

}  // namespace longshore::detail
