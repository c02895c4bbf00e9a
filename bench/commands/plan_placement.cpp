#include "commands/plan_placement.hpp"

#include <longshore/core/error.hpp>

#include "commands/exit_status.hpp"
#include "commands/plan_placement_options.hpp"
#include "facts/json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace longshore::bench {
namespace {

struct placement_row {
  std::string name;
  arrangement arranged;
  level_crossing crossing;
};

// The compared placements. MPI's Cartesian order comes first, the result of the search last.
std::vector<placement_row> rows_of(const placement_request& asked, const found_placement& found) {
  const auto crossing = [&](const arrangement& arranged) {
    return crossing_of(arranged, asked.levels, asked.load);
  };
  const auto cart =
      mpi_cartesian_order(mpi_dims_create(places_of(asked.levels), 3, asked.search.grid));
  const rank_order linear(cart.shape(), x_fastest);
  std::vector<placement_row> rows{{"cart", cart, found.cart_crossing},
                                  {"linear", linear, crossing(linear)}};
  if (asked.by_hand) rows.push_back({"by hand", *asked.by_hand, crossing(*asked.by_hand)});
  rows.push_back({"auto", found.arranged, found.crossing});
  return rows;
}

// The options that select this placement.
std::string options_line(const found_placement& found) {
  const auto shape = shape_of(found.arranged);
  if (const auto* placed = std::get_if<placement>(&found.arranged)) {
    std::string line = "--placement levels";
    for (const auto& level : placed->levels())
      line +=
          fmt::format(" --{} {},{},{}", level.name, level.grid[0], level.grid[1], level.grid[2]);
    return line;
  }
  // An order without a name of its own is the result of auto.
  const bool has_name = found.kind == "cart" || found.kind == "linear";
  return fmt::format("--placement {} --grid {},{},{}", has_name ? found.kind : "auto", shape[0],
                     shape[1], shape[2]);
}

std::string table_of(const placement_request& asked, const std::vector<placement_row>& rows,
                     const found_placement& found, std::span<const double> weights) {
  std::string text = "machine:  ";
  for (const auto& level : asked.levels) text += fmt::format("{} {}, ", level.name, level.count);
  text += fmt::format("{} ranks{}\n", places_of(asked.levels),
                      asked.topology.empty() ? "" : "; a node is " + asked.topology);
  text += fmt::format("exchange: {}\n\n", asked.load_text);
  text += fmt::format("{:<10}{:<14}", "placement", "grid");
  for (const auto& level : asked.levels) text += fmt::format("{:>9}", level.name);
  text += fmt::format("{:>12}\n", "cost");
  for (const auto& row : rows) {
    text += fmt::format("{:<10}{:<14}", row.name, text_of(shape_of(row.arranged)));
    for (std::size_t l = 0; l < asked.levels.size(); ++l)
      text += fmt::format("{:>7.1f} %", 100 * row.crossing.fraction(l));
    const double cost = weighted_cost(row.crossing, weights);
    text += found.cart_cost > 0 ? fmt::format("{:>12.3f}\n", cost / found.cart_cost)
                                : fmt::format("{:>12}\n", "-");
  }
  text +=
      "\nShare of the bytes by the outermost level that they cross; cost: bytes weighted by level, "
      "relative to cart.\n"
      "Options for the best placement:\n";
  return text + fmt::format("  {}\n", options_line(found));
}

json json_of(const placement_request& asked, const std::vector<placement_row>& rows,
             const found_placement& found, const std::vector<double>& weights) {
  json levels = json::array();
  for (std::size_t l = 0; l < asked.levels.size(); ++l)
    levels.push_back(
        {{"name", asked.levels[l].name}, {"count", asked.levels[l].count}, {"weight", weights[l]}});
  json plan{{"schema", 1},
            {"levels", std::move(levels)},
            {"topology", asked.topology.empty() ? json(nullptr) : json(asked.topology)}};
  for (const auto& row : rows) {
    json one{{"placement", row.name}, {"grid", shape_of(row.arranged)}};
    if (const auto* placed = std::get_if<placement>(&row.arranged))
      for (const auto& level : placed->levels()) one["levels"][level.name] = level.grid;
    for (std::size_t l = 0; l < asked.levels.size(); ++l) {
      one["bytes"][asked.levels[l].name] = row.crossing.bytes[l];
      one["crossing"][asked.levels[l].name] = row.crossing.fraction(l);
    }
    one["offnode_fraction"] = row.crossing.fraction_beyond(levels_off_node(asked.levels) - 1);
    one["total_bytes"] = row.crossing.total;
    one["cost"] = weighted_cost(row.crossing, weights);
    plan["placements"].push_back(std::move(one));
  }
  plan["found"] = found.kind;
  plan["options"] = options_line(found);
  return plan;
}

void print_plan(const placement_request& asked) {
  const auto weights =
      asked.search.weights.empty() ? default_level_weights(asked.levels) : asked.search.weights;
  const auto found = find_placement(asked.levels, asked.load, asked.search);
  const auto rows = rows_of(asked, found);
  const bool json_on_output = asked.json_file == "-";
  if (asked.json_file) {
    const std::string text = json_of(asked, rows, found, weights).dump(1) + "\n";
    if (json_on_output) {
      fmt::print("{}", text);
    } else if (!(std::ofstream(*asked.json_file) << text << std::flush)) {
      fail(errc::usage, "--json: '{}' cannot be written", *asked.json_file);
    }
  }
  fmt::print(json_on_output ? stderr : stdout, "{}", table_of(asked, rows, found, weights));
}

}  // namespace

int plan_placement(std::span<const char* const> words) {
  try {
    const auto asked = parse_placement(words);
    if (asked.help)
      fmt::print("{}", asked.text);
    else
      print_plan(asked);
    return all_right;
  } catch (const error& e) {
    fmt::print(stderr, "longshore-bench: placement: {}\n", e.what());
    return e.code() == errc::usage || e.code() == errc::unsupported ? nothing_ran : runtime_failure;
  }
}

}  // namespace longshore::bench
