#include "records/table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace longshore::bench {
namespace {

using namespace std::string_view_literals;

// Factors that a user may choose for a given problem. All others define the problem.
constexpr std::array choices{"strategy"sv,     "mode"sv,        "algorithm"sv,  "exchange"sv,
                             "order"sv,        "tasks"sv,       "task_count"sv, "memory"sv,
                             "first_touch"sv,  "hops"sv,        "grid"sv,       "placement"sv,
                             "distribution"sv, "buffer_items"sv};
// Of figures; the first figure of each variant is always shown
constexpr std::size_t most_columns = 3;

bool is_choice(std::string_view factor) {
  return std::find(choices.begin(), choices.end(), factor) != choices.end();
}

std::string level_of(const variant& what, const std::string& factor) {
  const auto level = what.find(factor);
  return level == what.end() ? "-" : level_text(*level);
}

// The factors of a variant that define the problem: variants with the same ones are comparable.
std::string problem(const variant& what) {
  json rest = json::object();
  for (const auto& [name, level] : what.items())
    if (!is_choice(name)) rest[name] = level;
  return rest.dump();
}

bool better(const metric& a, const metric& b) {
  return a.higher_is_better ? a.value > b.value : a.value < b.value;
}

// The best row of each problem with at least two rows. Wrong results never win.
std::set<const variant_result*> winners(const std::vector<const variant_result*>& ran) {
  std::map<std::string, std::pair<const variant_result*, int>> best;
  for (const auto* row : ran) {
    if (row->metrics.empty() || row->verified == false) continue;
    auto& [leader, contestants] =
        best[fmt::format("{} {}", row->metrics.front().name, problem(row->what))];
    ++contestants;
    if (leader == nullptr || better(row->metrics.front(), leader->metrics.front())) leader = row;
  }
  std::set<const variant_result*> found;
  for (const auto& [name, of_problem] : best)
    if (of_problem.second > 1) found.insert(of_problem.first);
  return found;
}

// Factors with more than one level among the rows, in their order; and "name=level" of the others.
std::pair<std::vector<std::string>, std::string> split_factors(
    const std::vector<const variant_result*>& ran) {
  std::vector<std::string> names, varying;
  for (const auto* row : ran)
    for (const auto& [name, level] : row->what.items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  std::string constant;
  for (const auto& name : names) {
    const std::string first = level_of(ran.front()->what, name);
    if (std::any_of(ran.begin(), ran.end(),
                    [&](const variant_result* row) { return level_of(row->what, name) != first; }))
      varying.push_back(name);
    else
      constant += fmt::format("{}{}={}", constant.empty() ? "" : " ", name, first);
  }
  return {varying, constant};
}

struct line {
  std::vector<std::string> cells;
  bool winner = false, wrong = false;
};

std::string verified_text(const variant_result& row) {
  if (!row.verified) return "unverified";
  return *row.verified ? "yes" : "WRONG";
}

std::string heading(const metric& one) {
  const std::string of = one.per.empty() ? "" : fmt::format(" per {}", one.per);
  return one.unit.empty() ? one.name : fmt::format("{} {}{}", one.name, one.unit, of);
}

// The shown figures, by heading: variants of one pattern may have different ones.
std::vector<std::string> figure_columns(const std::vector<const variant_result*>& ran) {
  std::vector<std::string> columns;
  const auto show = [&](const metric& one) {
    if (std::find(columns.begin(), columns.end(), heading(one)) == columns.end())
      columns.push_back(heading(one));
  };
  for (const auto* row : ran)
    if (!row->metrics.empty()) show(row->metrics.front());
  for (const auto* row : ran)
    for (const auto& one : row->metrics)
      if (columns.size() < most_columns) show(one);
  return columns;
}

std::string figure_of(const variant_result& row, const std::string& column) {
  for (const auto& one : row.metrics)
    if (heading(one) == column) return number_text(one.value);
  return "-";
}

line line_of(const variant_result& row, const std::vector<std::string>& factors,
             const std::vector<std::string>& figures, bool winner) {
  line out{{winner ? "*" : ""}, winner, row.verified == false};
  for (const auto& factor : factors) out.cells.push_back(level_of(row.what, factor));
  for (const auto& column : figures) out.cells.push_back(figure_of(row, column));
  out.cells.push_back(seconds_text(row.seconds.median));
  out.cells.push_back(seconds_text(row.seconds.p10));
  out.cells.push_back(seconds_text(row.seconds.p90));
  out.cells.push_back(verified_text(row));
  return out;
}

std::string aligned(const std::vector<line>& lines, std::size_t text_columns, bool colour) {
  std::vector<std::size_t> widths(lines.front().cells.size());
  for (const auto& one : lines)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], one.cells[i].size());
  std::string text;
  for (const auto& one : lines) {
    std::string row;
    for (std::size_t i = 0; i < widths.size(); ++i)
      row += i <= text_columns ? fmt::format("{:<{}}  ", one.cells[i], widths[i])
                               : fmt::format("{:>{}}  ", one.cells[i], widths[i]);
    row.erase(row.find_last_not_of(' ') + 1);
    if (colour && one.wrong) row = fmt::format("\x1b[31m{}\x1b[0m", row);
    if (colour && one.winner) row = fmt::format("\x1b[32m{}\x1b[0m", row);
    text += row;
    text += '\n';
  }
  return text;
}

std::string table_of_measured(const std::vector<const variant_result*>& ran, bool colour) {
  const auto [factors, constant] = split_factors(ran);
  const auto best = winners(ran);
  const auto figures = figure_columns(ran);
  line head{{""}};
  for (const auto& factor : factors) head.cells.push_back(factor);
  head.cells.insert(head.cells.end(), figures.begin(), figures.end());
  for (const char* name : {"median", "p10", "p90", "verified"}) head.cells.emplace_back(name);
  std::vector<line> lines{head};
  for (const auto* row : ran) lines.push_back(line_of(*row, factors, figures, best.contains(row)));
  std::string text = constant.empty() ? "" : constant + "\n";
  text += aligned(lines, factors.size(), colour);
  if (best.empty()) return text;
  std::vector<std::string> chosen;
  std::copy_if(factors.begin(), factors.end(), std::back_inserter(chosen), is_choice);
  text += fmt::format("* best {} among those that differ only in {}\n",
                      (*best.begin())->metrics.front().name, fmt::join(chosen, ", "));
  return text;
}

// One line per reason, with one of its variants and the number of further ones.
std::string reasons(const std::vector<table_row>& rows) {
  std::vector<std::pair<std::string, std::vector<const variant*>>> found;
  const auto note = [&](const std::string& why, const variant& what) {
    auto known =
        std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.first == why; });
    if (known == found.end()) known = found.insert(found.end(), {why, {}});
    known->second.push_back(&what);
  };
  for (const auto& row : rows) {
    if (const auto* skipped = std::get_if<skipped_variant>(&row))
      note(fmt::format("skipped: {}", skipped->why), skipped->what);
    else if (const auto& ran = std::get<variant_result>(row); !ran.warning.empty())
      note(fmt::format("warning: {}", ran.warning), ran.what);
  }
  std::string text;
  for (const auto& [why, which] : found)
    text += fmt::format("{} ({}{})\n", why, label(*which.front()),
                        which.size() > 1 ? fmt::format(", and {} more", which.size() - 1) : "");
  return text;
}

}  // namespace

std::string table(const std::vector<table_row>& rows, bool colour) {
  std::vector<const variant_result*> ran;
  for (const auto& row : rows)
    if (const auto* one = std::get_if<variant_result>(&row)) ran.push_back(one);
  std::stable_sort(ran.begin(), ran.end(), [](const variant_result* a, const variant_result* b) {
    return a->index < b->index;
  });
  return (ran.empty() ? "" : table_of_measured(ran, colour)) + reasons(rows);
}

std::string seconds_text(double seconds) {
  const double size = std::abs(seconds);
  const auto [scale, unit] = size < 1e-6   ? std::pair{1e9, "ns"}
                             : size < 1e-3 ? std::pair{1e6, "us"}
                             : size < 1    ? std::pair{1e3, "ms"}
                                           : std::pair{1.0, "s"};
  const double value = seconds * scale;
  const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, unit);
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 1e7) return fmt::format("{:.3e}", value);
  const int digits = static_cast<int>(std::floor(std::log10(size)));
  return fmt::format("{:.{}f}", value, std::max(0, 3 - digits));
}

}  // namespace longshore::bench
