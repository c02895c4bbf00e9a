// Predicts memory and messages of each aggregating strategy by predict_engine_cost(), and prints
// the predictions as a table, and as JSON if requested.
#include "commands/commands.hpp"

#include <longshore/aggregate/engine_cost.hpp>
#include <longshore/core/error.hpp>
#include <longshore/gather/options.hpp>

#include "commands/running.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::bench {
namespace {

constexpr double mebibyte = 1 << 20;

struct plan_request {
  int ranks = 0, ranks_per_node = 1;
  std::string operation = "gather", json_file = {};
  std::vector<std::string> strategies = {"exstack", "exstack2", "conveyor", "aggregator"};
  std::vector<int> hops = {1, 2, 3};
  double requests = 10'000'000;
  std::size_t buffer_items = 1024;
  std::string help_text = {};  // to print instead of planning
};

struct plan_row {
  std::string strategy;
  std::vector<engine_cost> engines;  // one per kind of items: see item_bytes_of()

  [[nodiscard]] std::size_t hops() const { return engines.front().hops.size(); }

  [[nodiscard]] std::size_t memory_bytes() const {
    std::size_t bytes = 0;
    for (const auto& engine : engines) bytes += engine.memory_bytes;
    return bytes;
  }
};

engine_kind kind_of(const std::string& strategy) {
  for (const auto kind : {engine_kind::exstack, engine_kind::exstack2, engine_kind::conveyor,
                          engine_kind::aggregator})
    if (name_of(kind) == strategy) return kind;
  fail(errc::usage,
       "--strategy: '{}' has no plan; allowed: exstack, exstack2, conveyor, aggregator", strategy);
}

// Item bytes of each engine, for elements of 8 bytes and offsets of 4 bytes (fewer than 2^32
// elements per rank). Gather sends an offset and returns a value, scatter sends both, histogram an
// offset.
std::vector<std::size_t> item_bytes_of(const std::string& operation) {
  if (operation == "gather") return {4, 8};
  if (operation == "scatter") return {12};
  if (operation == "histogram") return {4};
  fail(errc::usage, "--operation: '{}' was given; allowed: gather, scatter, histogram", operation);
}

std::vector<plan_row> rows_of(const plan_request& asked) {
  std::vector<plan_row> rows;
  for (const auto& strategy : asked.strategies) {
    const engine_kind kind = kind_of(strategy);
    // Users choose the hops of a conveyor only. Other engines choose their own hops.
    for (const int hop_count : kind == engine_kind::conveyor ? asked.hops : std::vector{1}) {
      plan_row row{strategy, {}};
      for (const std::size_t bytes : item_bytes_of(asked.operation)) {
        const bool has_replies = asked.operation == "gather";
        const engine_options options{.item_bytes = bytes,
                                     .buffer_items = asked.buffer_items,
                                     .slots = has_replies ? engine_options{}.slots : request_slots,
                                     .hops = hop_count,
                                     .with_source = has_replies};
        row.engines.push_back(
            predict_engine_cost(kind, options, asked.ranks, asked.ranks_per_node, asked.requests));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string table_of(const plan_request& asked, const std::vector<plan_row>& rows) {
  std::string text = fmt::format(
      "{} on {} ranks, {} per node, {:.0f} requests of each to random ranks, buffers of {} "
      "items\n\n",
      asked.operation, asked.ranks, asked.ranks_per_node, asked.requests, asked.buffer_items);
  text += fmt::format("{:<12}{:>5}{:>14}   {:>4}{:>8}{:>10}{:>12}{:>8}\n", "strategy", "hops",
                      "buffers MiB", "hop", "links", "off-node", "messages", "fill");
  for (const auto& row : rows) {
    std::string head = fmt::format("{:<12}{:>5}{:>14.2f}", row.strategy, row.hops(),
                                   static_cast<double>(row.memory_bytes()) / mebibyte);
    const auto& first = row.engines.front().hops;
    for (std::size_t h = 0; h < first.size(); ++h) {
      double messages = 0;
      for (const auto& engine : row.engines) messages += engine.hops[h].messages;
      text += fmt::format("{:<31}   {:>4}{:>8}{:>10}{:>12.0f}{:>6.0f} %\n", head, h + 1,
                          first[h].links, first[h].offnode_links, messages, 100 * first[h].fill);
      head.clear();
    }
  }
  return text +
         "\nPer rank: memory of all buffers, for requests and replies; links of the rank with most "
         "of them; mean number of messages.\n";
}

json json_of(const plan_request& asked, const std::vector<plan_row>& rows) {
  json plan{{"schema", 1},
            {"operation", asked.operation},
            {"ranks", asked.ranks},
            {"ranks_per_node", asked.ranks_per_node},
            {"requests", asked.requests},
            {"plans", json::array()}};
  for (const auto& row : rows) {
    json row_plan{{"strategy", row.strategy},
                  {"hops", row.hops()},
                  {"buffer_items", row.engines.front().buffer_items},
                  {"memory_bytes", row.memory_bytes()},
                  {"engines", json::array()}};
    for (const auto& engine : row.engines) {
      json hops = json::array();
      for (const auto& hop : engine.hops)
        hops.push_back({{"links", hop.links},
                        {"offnode_links", hop.offnode_links},
                        {"tag_bytes", hop.tag_bytes},
                        {"items", hop.items},
                        {"messages", hop.messages},
                        {"fill", hop.fill}});
      row_plan["engines"].push_back(
          {{"memory_bytes", engine.memory_bytes}, {"per_hop", std::move(hops)}});
    }
    plan["plans"].push_back(std::move(row_plan));
  }
  return plan;
}

plan_request parse(std::span<const char* const> words) {
  plan_request asked;
  CLI::App app{"plans memory and messages of the aggregating strategies; starts no ranks",
               "longshore-bench gather --plan"};
  bool plan = false;  // true whenever this command runs: the flag selected the command
  app.add_flag("--plan", plan, "plan, do not run");
  app.add_option("--ranks", asked.ranks, "of the machine to plan for")
      ->required()
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--ranks-per-node", asked.ranks_per_node, "on each of its nodes; default: 1")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--operation", asked.operation, "gather, scatter or histogram; default: gather");
  app.add_option("--strategy", asked.strategies, "to plan; default: all aggregating ones")
      ->delimiter(',');
  app.add_option("--hops", asked.hops, "of a conveyor; default: 1,2,3")
      ->delimiter(',')
      ->check(CLI::Range(1, 3));
  app.add_option("--requests", asked.requests, "per rank; default: 10000000")
      ->check(CLI::Range(1.0, 1e15));
  app.add_option("--buffer-items", asked.buffer_items, "per destination; default: 1024")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option(
      "--json", asked.json_file,
      "write the plan as JSON; - is standard output, and the table then goes to standard error");
  app.footer("Example:\n  longshore-bench gather --plan --ranks 9216 --ranks-per-node 36");
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // the order of CLI11
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    asked.help_text = app.help();
  } catch (const CLI::ParseError& e) {
    fail(errc::usage, "{}; see longshore-bench gather --plan --help", e.what());
  }
  return asked;
}

}  // namespace

bool asks_for_gather_plan(std::span<const char* const> words) {
  return !words.empty() && std::string_view(words.front()) == "gather" &&
         std::any_of(words.begin(), words.end(),
                     [](const char* word) { return std::string_view(word) == "--plan"; });
}

int run_gather_plan_command(std::span<const char* const> words) {
  return run_command(
      [&] {
        const auto asked = parse(words);
        if (!asked.help_text.empty()) return print_text(asked.help_text);
        const auto rows = rows_of(asked);
        return print_plan(asked.json_file, json_of(asked, rows), table_of(asked, rows));
      },
      "gather --plan: ");
}

}  // namespace longshore::bench
