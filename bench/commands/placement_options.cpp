// Reads the options of `longshore-bench placement` in four steps: the machine, the halo exchange,
// the placement by hand, and the search. Later steps use the results of earlier steps.
#include "commands/placement_options.hpp"

#include <longshore/core/error.hpp>
#include <longshore/halo/rank_locations.hpp>
#include <longshore/machine/topology.hpp>

#include "commands/parse_levels.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace longshore::bench {
namespace {

constexpr long max_ranks_planned = 1 << 24;
constexpr long max_cells = 1 << 20;

const std::vector<std::pair<std::string, const char*>>& options() {
  static const std::vector<std::pair<std::string, const char*>> all{
      {"levels",
       "the machine: name:count,... from node in, each count per object of the level before; names "
       "are node, socket,\n"
       "numa, l3, core. Ranks fill all of it"},
      {"nodes",
       "this many nodes instead of --levels, each as --topology says, with a rank on every core; "
       "default: 1"},
      {"topology",
       "topology of a node: this, a FILE.xml that lstopo wrote, or a description such as "
       "\"pack:2 numa:4 l3:4 core:2 pu:1\""},
      {"domain", "cells per rank along x, y, z; default: 64,64,64"},
      {"halo", "cells of halo on every side; default: 1"},
      {"fields", "fields exchanged together; default: 1"},
      {"type", "type of an element, float or double; default: double"},
      {"periodic", "1 where the domain wraps around, along x, y, z; default: 1,1,1"},
      {"grid", "ranks along x, y, z; 0: as MPI_Dims_create; any: the grid with the least traffic"},
      {"node", "by hand: the grid of nodes X,Y,Z"},
      {"socket", "by hand: the grid of sockets in a node"},
      {"numa", "by hand: the grid of NUMA domains in a socket"},
      {"l3", "by hand: the grid of last-level caches in a NUMA domain"},
      {"core", "by hand: the grid of ranks in a cache"},
      {"weights",
       "cost of a byte that crosses a level: name:number,...; default: 8 times that of the next "
       "inner level"},
      {"json",
       "write the plan as JSON; - is standard output, and the table then goes to standard error"}};
  return all;
}

const char* const examples =
    "A comma-separated list is one value here, not a list of variants: the command makes one "
    "plan.\n\n"
    "Examples:\n"
    "  longshore-bench placement --levels node:27,socket:2,numa:4,l3:4,core:2\n"
    "  longshore-bench placement --nodes 4 --topology this --domain 128,128,32 --faces\n"
    "  longshore-bench placement --nodes 27 --topology \"pack:2 numa:4 l3:4 core:2 pu:1\" \\\n"
    "      --node 3,3,3 --socket 1,1,2 --numa 1,2,2 --l3 2,2,1 --core 2,1,1\n\n"
    "Exit status: 0, or 2 when the options make no sense.";

// The typed values by the name of their option, with a function for each kind of value.
class placement_words {
 public:
  explicit placement_words(std::map<std::string, std::vector<std::string>> values)
      : values_(std::move(values)) {
    for (const auto& [name, given] : values_)
      if (given.size() > 1)
        fail(errc::usage, "--{} is given {} times; it takes one value", name, given.size());
  }

  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    const auto& given = values_.at(name);
    return given.empty() ? std::nullopt : std::optional(given.front());
  }
  [[nodiscard]] long number(const std::string& name, long low, long high,
                            long default_value) const {
    const auto given = text(name);
    return given ? parse_number("--" + name, *given, low, high) : default_value;
  }
  [[nodiscard]] std::array<long, 3> triple(const std::string& name, long low, long high,
                                           std::array<long, 3> default_value) const {
    const auto given = text(name);
    if (!given) return default_value;
    const auto parts = split_at_commas(*given);
    if (parts.size() != 3)
      fail(errc::usage, "--{}: '{}' is not three whole numbers X,Y,Z", name, *given);
    std::array<long, 3> numbers{};
    for (std::size_t d = 0; d < 3; ++d) numbers[d] = parse_number("--" + name, parts[d], low, high);
    return numbers;
  }
  // The parts of a value such as name:number,...
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs(
      const std::string& name) const {
    std::vector<std::pair<std::string, std::string>> pairs;
    const std::vector<std::string> known(location_levels.begin(), location_levels.end());
    const std::string given = text(name).value_or("");
    for (const auto part : split_at_commas(given)) {
      const auto colon = part.find(':');
      if (colon == std::string::npos)
        fail(errc::usage, "--{}: '{}' is not name:number, as in node:27", name, part);
      const std::string level(part.substr(0, colon));
      if (std::find(known.begin(), known.end(), level) == known.end())
        fail(errc::usage, "--{}: '{}' is none of the levels {}{}", name, level,
             fmt::format("{}", fmt::join(known, ", ")), suggestion(level, known));
      if (std::any_of(pairs.begin(), pairs.end(),
                      [&](const auto& pair) { return pair.first == level; }))
        fail(errc::usage, "--{}: level {} is given twice", name, level);
      pairs.emplace_back(level, part.substr(colon + 1));
    }
    return pairs;
  }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

std::vector<hardware_level> levels_of_topology(const topology& node, int nodes,
                                               const std::string& topology_text) {
  const auto even = node.even_levels();
  if (!even)
    fail(errc::usage,
         "--topology: '{}' has objects of different sizes ({}): give --levels of the part that "
         "ranks are to fill",
         topology_text, node.description());
  std::vector<hardware_level> levels{{"node", nodes}};
  int cores = 1;  // per object of the innermost level above l2. A rank takes a whole core.
  for (const auto& level : *even) {
    if (level.name == "l2" || level.name == "core")
      cores *= level.count;
    else if (level.name != "hwthread")
      levels.push_back(level);
  }
  levels.push_back({"core", cores});
  return levels;
}

void read_machine(const placement_words& given, placement_request& asked) {
  if (given.text("levels")) {
    for (const char* other : {"nodes", "topology"})
      if (given.text(other))
        fail(errc::usage, "--levels and --{} both describe the machine: give one of them", other);
    for (const auto& [name, count] : given.pairs("levels"))
      asked.levels.push_back(
          {name, static_cast<int>(parse_number("--levels: " + name, count, 1, max_ranks_planned))});
    const auto depth = [](const hardware_level& level) {
      return std::find(location_levels.begin(), location_levels.end(), level.name);
    };
    for (std::size_t l = 1; l < asked.levels.size(); ++l)
      if (depth(asked.levels[l - 1]) > depth(asked.levels[l]))
        fail(errc::usage, "--levels: {} stands before {}; the order is {}",
             asked.levels[l - 1].name, asked.levels[l].name,
             fmt::format("{}", fmt::join(location_levels, ", ")));
  } else {
    if (!given.text("nodes") && !given.text("topology"))
      fail(errc::usage,
           "the machine is missing: --levels node:27,socket:2,core:32, or --nodes 27 --topology "
           "this; "
           "longshore-bench placement --help says more");
    const std::string topology_text = given.text("topology").value_or("this");
    const auto node = topology_from(topology_text);
    asked.topology = node.description();
    asked.levels = levels_of_topology(
        node, static_cast<int>(given.number("nodes", 1, max_ranks_planned, 1)), topology_text);
  }
  static_cast<void>(position_count(asked.levels));  // throws if there are too many ranks
}

void read_load(const placement_words& given, bool faces, placement_request& asked) {
  const auto domain = given.triple("domain", 1, max_cells, {64, 64, 64}),
             wraps = given.triple("periodic", 0, 1, {1, 1, 1});
  const int width = static_cast<int>(given.number("halo", 1, 1024, 1));
  const long fields = given.number("fields", 1, 4096, 1);
  const std::string type = given.text("type").value_or("double");
  if (type != "float" && type != "double")
    fail(errc::usage, "--type: '{}' is not one of float, double", type);
  const std::int64_t element_bytes = type == "float" ? sizeof(float) : sizeof(double);
  asked.load = {.cells = {domain[0], domain[1], domain[2]},
                .low = {width, width, width},
                .high = {width, width, width},
                .bytes_per_cell = fields * element_bytes,
                .periodic = {wraps[0] != 0, wraps[1] != 0, wraps[2] != 0},
                .faces_only = faces};
  asked.load_text =
      fmt::format("{}x{}x{} cells of {} {}{} per rank, halo {}, {}, periodic {},{},{}", domain[0],
                  domain[1], domain[2], fields, type, fields == 1 ? "" : "s", width,
                  faces ? "faces only" : "faces, edges and corners", wraps[0], wraps[1], wraps[2]);
}

// The placement by hand may leave out levels of the machine. A grid then covers its own level and
// the levels without a grid that lie outside it, up to the next level with a grid. The levels
// inside the innermost grid become one level core.
void read_by_hand(const placement_words& given, placement_request& asked) {
  std::vector<placement_level> by_hand;
  std::vector<hardware_level> machine;
  int omitted = 1;  // product of the levels without a grid since the last level with a grid
  for (const auto name : location_levels) {
    const std::string level(name);
    const auto known = std::find_if(asked.levels.begin(), asked.levels.end(),
                                    [&](const auto& candidate) { return candidate.name == level; });
    if (known != asked.levels.end()) omitted *= known->count;
    if (!given.text(level)) continue;
    const auto grid = given.triple(level, 1, max_ranks_planned, {});
    by_hand.push_back(
        {level, {static_cast<int>(grid[0]), static_cast<int>(grid[1]), static_cast<int>(grid[2])}});
    machine.push_back({level, std::exchange(omitted, 1)});
  }
  if (by_hand.empty()) return;
  if (omitted > 1) machine.push_back({std::string(location_levels.back()), omitted});
  asked.by_hand.emplace(by_hand);
  asked.by_hand->check(machine);
  // The search must use the same levels as the placement by hand, so that their crossings compare.
  if (machine.size() != asked.levels.size() ||
      !std::equal(machine.begin(), machine.end(), asked.levels.begin()))
    asked.levels = machine;
}

void read_search(const placement_words& given, placement_request& asked) {
  if (given.text("grid") == "any") {
    asked.search.any_grid = true;
  } else {
    const auto grid = given.triple("grid", 0, max_ranks_planned, {0, 0, 0});
    for (std::size_t d = 0; d < 3; ++d) asked.search.grid[d] = static_cast<int>(grid[d]);
    if (!given.text("grid") && asked.by_hand) asked.search.grid = asked.by_hand->shape();
  }
  if (!given.text("weights")) return;
  asked.search.weights = default_level_weights(asked.levels);
  for (const auto& [name, text] : given.pairs("weights")) {
    const auto level = std::find_if(asked.levels.begin(), asked.levels.end(),
                                    [&](const auto& candidate) { return candidate.name == name; });
    if (level == asked.levels.end())
      fail(errc::usage, "--weights: the machine has no level {}", name);
    double weight = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), weight);
    if (status != std::errc{} || end != text.data() + text.size() ||
        !(weight >= 0 && weight <= 1e9))
      fail(errc::usage, "--weights: '{}' is not a number from 0 to 10^9", text);
    asked.search.weights[static_cast<std::size_t>(level - asked.levels.begin())] = weight;
  }
}

}  // namespace

placement_request parse_placement(std::span<const char* const> words) {
  std::map<std::string, std::vector<std::string>> values;
  bool faces = false, help = false;
  CLI::App app("plans the placement of a grid of ranks; starts no ranks",
               "longshore-bench placement");
  app.set_help_flag();  // without arguments: removes CLI11's own --help, which would throw
  app.allow_extras();   // keeps unknown words, for which an option is suggested below
  app.footer(examples);
  for (const auto& [name, text] : options())
    app.add_option("--" + name, values[name], text)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("");
  app.add_flag("--faces", faces, "messages through faces only; default: edges and corners too");
  app.add_flag("-h,--help", help, "this text");
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // the order of CLI11
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    const std::string message = e.what();
    fail(errc::usage, "{}; longshore-bench placement --help lists the options",
         message.substr(0, message.find('\n')));
  }
  placement_request asked;
  if (help) {
    asked.help_text = app.help();
    return asked;
  }
  if (const auto rest = app.remaining(); !rest.empty()) {
    std::vector<std::string> names{"--faces", "--help"};
    for (const auto& [name, text] : options()) names.push_back("--" + name);
    fail(errc::usage,
         "'{}' is no option of placement{}; longshore-bench placement --help lists them",
         rest.front(), suggestion(rest.front(), names));
  }
  const placement_words given(std::move(values));
  read_machine(given, asked);
  read_load(given, faces, asked);
  read_by_hand(given, asked);
  read_search(given, asked);
  if (given.text("json") == "") fail(errc::usage, "--json: '' cannot be written");
  asked.json_file = given.text("json").value_or("");
  return asked;
}

}  // namespace longshore::bench
