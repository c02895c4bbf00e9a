// Compares placements of a grid of ranks by the bytes that cross each level of the machine: MPI's
// Cartesian order, linear order, a placement by hand, and the best placement found.
#include "commands/commands.hpp"

#include <longshore/core/error.hpp>

#include "commands/placement_options.hpp"
#include "commands/running.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace longshore::bench {
namespace {

struct placement_row {
  std::string name;
  arrangement arranged;
  level_crossing crossing;
};

// The rows of the table, from MPI's Cartesian order to the result of the search.
std::vector<placement_row> rows_of(const placement_request& asked, const found_placement& found) {
  const auto crossing = [&](const arrangement& arranged) {
    return crossing_of(arranged, asked.levels, asked.load);
  };
  const auto cart =
      mpi_cartesian_order(mpi_dims_create(position_count(asked.levels), 3, asked.search.grid));
  const rank_order linear(cart.shape(), x_fastest);
  std::vector<placement_row> rows{{"cart", cart, found.cart_crossing},
                                  {"linear", linear, crossing(linear)}};
  if (asked.by_hand) rows.push_back({"by hand", *asked.by_hand, crossing(*asked.by_hand)});
  rows.push_back({"auto", found.arranged, found.crossing});
  return rows;
}

// The options of longshore-bench that select the placement.
std::string options_line(const found_placement& found) {
  const auto shape = shape_of(found.arranged);
  if (const auto* placed = std::get_if<placement>(&found.arranged)) {
    std::string line = "--placement levels";
    for (const auto& level : placed->levels())
      line +=
          fmt::format(" --{} {},{},{}", level.name, level.grid[0], level.grid[1], level.grid[2]);
    return line;
  }
  // Only cart and linear have a name. The option for other orders is auto.
  const bool has_name = found.kind == "cart" || found.kind == "linear";
  return fmt::format("--placement {} --grid {},{},{}", has_name ? found.kind : "auto", shape[0],
                     shape[1], shape[2]);
}

std::string table_of(const placement_request& asked, const std::vector<placement_row>& rows,
                     const found_placement& found, std::span<const double> weights) {
  std::string text = "machine:  ";
  for (const auto& level : asked.levels) text += fmt::format("{} {}, ", level.name, level.count);
  text += fmt::format("{} ranks{}\n", position_count(asked.levels),
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
  json plan{
      {"schema", 1}, {"levels", std::move(levels)}, {"topology", text_or_null(asked.topology)}};
  for (const auto& row : rows) {
    json row_plan{{"placement", row.name}, {"grid", shape_of(row.arranged)}};
    if (const auto* placed = std::get_if<placement>(&row.arranged))
      for (const auto& level : placed->levels()) row_plan["levels"][level.name] = level.grid;
    for (std::size_t l = 0; l < asked.levels.size(); ++l) {
      row_plan["bytes"][asked.levels[l].name] = row.crossing.bytes[l];
      row_plan["crossing"][asked.levels[l].name] = row.crossing.fraction(l);
    }
    row_plan["offnode_fraction"] = row.crossing.fraction_beyond(levels_off_node(asked.levels) - 1);
    row_plan["total_bytes"] = row.crossing.total;
    row_plan["cost"] = weighted_cost(row.crossing, weights);
    plan["placements"].push_back(std::move(row_plan));
  }
  plan["found"] = found.kind;
  plan["options"] = options_line(found);
  return plan;
}

}  // namespace

int run_placement_command(std::span<const char* const> words) {
  return run_command(
      [&] {
        const auto asked = parse_placement(words);
        if (!asked.help_text.empty()) return print_text(asked.help_text);
        const auto weights = asked.search.weights.empty() ? default_level_weights(asked.levels)
                                                          : asked.search.weights;
        const auto found = find_placement(asked.levels, asked.load, asked.search);
        const auto rows = rows_of(asked, found);
        return print_plan(asked.json_file, json_of(asked, rows, found, weights),
                          table_of(asked, rows, found, weights));
      },
      "placement: ");
}

}  // namespace longshore::bench
