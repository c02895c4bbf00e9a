// Formats the table: a column for each factor that varies, up to three figures, the times, and a
// mark for the best variant of each problem.
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

// Factors that a user may choose for a given problem, by their names in records. All other factors
// define the problem, and so does a new factor that this list lacks.
constexpr std::array choices{"strategy"sv,     "mode"sv,        "algorithm"sv,  "exchange"sv,
                             "order"sv,        "tasks"sv,       "task_count"sv, "memory"sv,
                             "first_touch"sv,  "hops"sv,        "grid"sv,       "placement"sv,
                             "distribution"sv, "buffer_items"sv};
// Limit of the columns with figures. The first figure of each variant is always shown.
constexpr std::size_t max_figure_columns = 3;

bool is_choice(std::string_view factor) {
  return std::find(choices.begin(), choices.end(), factor) != choices.end();
}

std::string shown_level(const variant& levels, const std::string& factor) {
  const auto level = levels.find(factor);
  return level == levels.end() ? "-" : level_text(*level);
}

// The factors and levels that define the problem, as text. Variants of one problem are comparable.
std::string problem(const variant& levels) {
  json rest = json::object();
  for (const auto& [name, level] : levels.items())
    if (!is_choice(name)) rest[name] = level;
  return rest.dump();
}

bool better(const metric& a, const metric& b) {
  return a.higher_is_better ? a.value > b.value : a.value < b.value;
}

// Whether the spread tells two results apart: their medians are not within p10 to p90 of each
// other. Figures that the table shows alike are alike. REQUIRES: `best` is not slower.
bool told_apart(const variant_result& best, const variant_result& other) {
  constexpr double shown = 1.001;
  return other.seconds.median > shown * best.seconds.p90 ||
         other.seconds.p10 > shown * best.seconds.median;
}

// The best rows of each problem with at least two rows: the best one, and those that its spread
// does not tell apart from it. Wrong results never win.
std::set<const variant_result*> winners(const std::vector<const variant_result*>& ran) {
  std::map<std::string, std::vector<const variant_result*>> contestants;
  for (const auto* row : ran)
    if (!row->metrics.empty() && row->verified != false)
      contestants[fmt::format("{} {}", row->metrics.front().name, problem(row->levels))].push_back(
          row);
  std::set<const variant_result*> winning;
  for (const auto& [name, of_problem] : contestants) {
    if (of_problem.size() < 2) continue;
    const auto* leader =
        *std::min_element(of_problem.begin(), of_problem.end(), [](const auto* a, const auto* b) {
          return better(a->metrics.front(), b->metrics.front());
        });
    for (const auto* row : of_problem)
      if (row == leader || !told_apart(*leader, *row)) winning.insert(row);
  }
  return winning;
}

// The names of factors with several levels among the rows, and "name=level" of all other factors.
std::pair<std::vector<std::string>, std::string> split_factors(
    const std::vector<const variant_result*>& ran) {
  std::vector<std::string> names, varying;
  for (const auto* row : ran)
    for (const auto& [name, level] : row->levels.items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  std::string constant;
  for (const auto& name : names) {
    const std::string first = shown_level(ran.front()->levels, name);
    if (std::any_of(ran.begin(), ran.end(), [&](const variant_result* row) {
          return shown_level(row->levels, name) != first;
        }))
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

std::string heading(const metric& figure) {
  const std::string per = figure.per.empty() ? "" : fmt::format(" per {}", figure.per);
  return figure.unit.empty() ? figure.name : fmt::format("{} {}{}", figure.name, figure.unit, per);
}

// The headings of the shown figures. Variants of one pattern may have different figures.
std::vector<std::string> figure_columns(const std::vector<const variant_result*>& ran) {
  std::vector<std::string> columns;
  const auto show = [&](const metric& figure) {
    if (std::find(columns.begin(), columns.end(), heading(figure)) == columns.end())
      columns.push_back(heading(figure));
  };
  // The first figure of every variant comes first, and is shown even beyond the limit.
  for (const auto* row : ran)
    if (!row->metrics.empty()) show(row->metrics.front());
  for (const auto* row : ran)
    for (const auto& figure : row->metrics)
      if (columns.size() < max_figure_columns) show(figure);
  return columns;
}

std::string figure_of(const variant_result& row, const std::string& column) {
  for (const auto& figure : row.metrics)
    if (heading(figure) == column) return number_text(figure.value);
  return "-";
}

// The names of the phases that some row has.
std::vector<std::string> phase_columns(const std::vector<const variant_result*>& ran) {
  std::vector<std::string> names;
  for (const auto* row : ran)
    if (names.empty())
      for (const auto& phase : row->median_phase_means) names.push_back(phase.first);
  return names;
}

line line_of(const variant_result& row, const std::vector<std::string>& factors,
             const std::vector<std::string>& figures, std::size_t phases, bool winner) {
  line row_line{{winner ? "*" : ""}, winner, row.verified == false};
  for (const auto& factor : factors) row_line.cells.push_back(shown_level(row.levels, factor));
  for (const auto& column : figures) row_line.cells.push_back(figure_of(row, column));
  row_line.cells.push_back(seconds_text(row.seconds.median));
  row_line.cells.push_back(seconds_text(row.seconds.p10));
  row_line.cells.push_back(seconds_text(row.seconds.p90));
  const auto& means = row.median_phase_means;
  for (std::size_t i = 0; i < phases; ++i)
    row_line.cells.push_back(i < means.size() ? seconds_text(means[i].second) : "-");
  row_line.cells.push_back(verified_text(row));
  return row_line;
}

std::string aligned(const std::vector<line>& lines, std::size_t text_columns, bool colour) {
  std::vector<std::size_t> widths(lines.front().cells.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], line.cells[i].size());
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < widths.size(); ++i)
      row += i <= text_columns ? fmt::format("{:<{}}  ", line.cells[i], widths[i])
                               : fmt::format("{:>{}}  ", line.cells[i], widths[i]);
    row.erase(row.find_last_not_of(' ') + 1);
    if (colour && line.wrong) row = fmt::format("\x1b[31m{}\x1b[0m", row);
    if (colour && line.winner) row = fmt::format("\x1b[32m{}\x1b[0m", row);
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
  const auto phases = phase_columns(ran);
  for (const char* name : {"median", "p10", "p90"}) head.cells.emplace_back(name);
  head.cells.insert(head.cells.end(), phases.begin(), phases.end());
  head.cells.emplace_back("verified");
  std::vector<line> lines{head};
  for (const auto* row : ran)
    lines.push_back(line_of(*row, factors, figures, phases.size(), best.contains(row)));
  std::string text = constant.empty() ? "" : constant + "\n";
  text += aligned(lines, factors.size(), colour);
  if (!phases.empty())
    text += fmt::format("{}: means over the ranks, in repetitions of their own\n",
                        fmt::join(phases, ", "));
  if (best.empty()) return text;
  std::vector<std::string> chosen;
  std::copy_if(factors.begin(), factors.end(), std::back_inserter(chosen), is_choice);
  text += fmt::format("* best {} among those that differ only in {}, or within its p10 to p90\n",
                      (*best.begin())->metrics.front().name, fmt::join(chosen, ", "));
  return text;
}

// One line per reason, with the first variant and the number of further variants.
std::string reasons(const std::vector<table_row>& rows) {
  std::vector<std::pair<std::string, std::vector<const variant*>>> variants_by_reason;
  const auto note = [&](const std::string& reason, const variant& levels) {
    auto known = std::find_if(variants_by_reason.begin(), variants_by_reason.end(),
                              [&](const auto& entry) { return entry.first == reason; });
    if (known == variants_by_reason.end())
      known = variants_by_reason.insert(variants_by_reason.end(), {reason, {}});
    known->second.push_back(&levels);
  };
  for (const auto& row : rows) {
    if (const auto* skipped = std::get_if<skipped_variant>(&row))
      note(fmt::format("skipped: {}", skipped->reason), skipped->levels);
    else if (const auto& ran = std::get<variant_result>(row); !ran.warning.empty())
      note(fmt::format("warning: {}", ran.warning), ran.levels);
  }
  std::string text;
  for (const auto& [reason, variants] : variants_by_reason)
    text +=
        fmt::format("{} ({}{})\n", reason, label(*variants.front()),
                    variants.size() > 1 ? fmt::format(", and {} more", variants.size() - 1) : "");
  return text;
}

}  // namespace

std::string table(const std::vector<table_row>& rows, bool colour) {
  std::vector<const variant_result*> ran;
  for (const auto& row : rows)
    if (const auto* result = std::get_if<variant_result>(&row)) ran.push_back(result);
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
