// Starts the ranks, measures, and writes the machine file. Copies tables that this launch cannot
// measure from the file --base, with their comments.
#include "commands/commands.hpp"

#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>

#include "commands/measured_machine.hpp"
#include "commands/running.hpp"
#include "facts/program.hpp"
#include "facts/system.hpp"

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>

namespace longshore::bench {
namespace {

struct calibrate_request {
  run_options launch;
  std::string name, base, output;
  int repetitions = 10;
  std::string help_text = {};  // to print instead of measuring
};

constexpr const char* calibrate_examples =
    "A launch on one node measures memory and work of the processors, with all its ranks at once. "
    "A launch\non several nodes measures the network between two of them, and takes the rest from "
    "--base.\n\n"
    "Examples:\n"
    "  longshore-bench calibrate --ranks 4 --output here.toml\n"
    "  mpirun -n 36 longshore-bench calibrate --name big --output node.toml       on one node\n"
    "  srun -N 2 -n 2 longshore-bench calibrate --base node.toml --output big.toml\n"
    "  longshore-bench calibrate --ranks 2 --ranks-per-node 1 --base here.toml    virtual nodes\n\n"
    "Edit nodes and ranks_per_node to simulate a larger machine of the same kind.\n\n"
    "Exit status: 0 the file is written; 2 usage, or a number cannot be measured here; "
    "3 a run-time failure.";

calibrate_request parse_calibrate(std::span<const char* const> words) {
  calibrate_request asked;
  asked.launch = options_from_environment();
  read_pinning(asked.launch, true);
  CLI::App app{"measures this machine, and writes its file for transport simulated",
               "longshore-bench calibrate"};
  std::string transport;
  int ranks = 0, ranks_per_node = 0;
  // The help shows a number as N, without its type and range.
  const auto add_number = [&app](const char* option, int& number, int largest, const char* help) {
    app.add_option(option, number, help)
        ->type_name("N")
        ->check(CLI::Range(1, largest).description(""));
  };
  app.add_option("--transport", transport,
                 "threads, mpi, shmem, ucx or simulated; default as for patterns")
      ->type_name("NAME");
  app.add_option("--machine", asked.launch.machine,
                 "the machine file, for transport simulated: calibrate returns its numbers")
      ->type_name("FILE");
  add_number("--ranks", ranks, 1 << 20,
             "number of ranks (a launcher has its own option); default: all cores");
  add_number("--ranks-per-node", ranks_per_node, 1 << 20, "virtual nodes of N ranks");
  app.add_option("--name", asked.name,
                 "name of the machine; default: that of --base, or of the host")
      ->type_name("NAME");
  app.add_option("--base", asked.base, "a machine file with the tables that are not measured here")
      ->type_name("FILE");
  app.add_option("--output", asked.output, "the file to write; default: standard output")
      ->type_name("FILE");
  add_number("--repetitions", asked.repetitions, 1'000'000,
             "repetitions of each measurement; default: 10");
  app.footer(calibrate_examples);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // the order of CLI11
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    asked.help_text = app.help();
    return asked;
  } catch (const CLI::ParseError& e) {
    fail(errc::usage, "calibrate: {}; see longshore-bench calibrate --help", e.what());
  }
  if (!transport.empty()) asked.launch.transport = chosen_transport(transport);
  if (ranks > 0) asked.launch.ranks = ranks;
  if (ranks_per_node > 0) asked.launch.ranks_per_node = ranks_per_node;
  if (ranks_are_processes(asked.launch.transport))
    asked.launch.ranks = 0;  // as many as were started
  return asked;
}

// A machine file as text: the lines of each table, by its name.
class machine_text {
 public:
  explicit machine_text(const std::string& file) {
    std::ifstream in(file);
    std::string line, table;
    while (std::getline(in, line)) {
      if (!line.empty() && line.front() == '[') {
        const auto end = line.find(']');
        table = line.substr(1, end == std::string::npos ? end : end - 1);
      }
      if (!table.empty()) lines_[table].push_back(line);
    }
  }
  [[nodiscard]] bool has(const std::string& table) const { return lines_.count(table) > 0; }
  /// The lines of a table with its heading, without empty lines at its end.
  [[nodiscard]] std::string table(const std::string& name) const {
    const auto& lines = lines_.at(name);
    std::size_t count = lines.size();
    while (count > 0 && lines[count - 1].empty()) --count;
    return fmt::format("{}\n",
                       fmt::join(lines.begin(), lines.begin() + static_cast<long>(count), "\n"));
  }
  /// The value of a line `key = value`, without comment and quotes; empty if there is none.
  [[nodiscard]] std::string value(const std::string& table, const std::string& key) const {
    const auto lines = lines_.find(table);
    if (lines == lines_.end()) return "";
    for (const auto& line : lines->second) {
      std::istringstream in(line);
      std::string word, equals, text;
      if (!(in >> word >> equals) || word != key || equals != "=") continue;
      std::getline(in >> std::ws, text);
      if (text.starts_with('"')) return text.substr(1, text.find('"', 1) - 1);
      return text.substr(0, text.find_first_of(" #"));
    }
    return "";
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))); }

std::string entries_text(const std::vector<machine_entry>& table) {
  std::size_t width = 0;
  for (const auto& entry : table) width = std::max(width, entry.key.size() + entry.value.size());
  std::string text;
  for (const auto& entry : table)
    text +=
        fmt::format("{} = {}{}  # {}\n", entry.key, entry.value,
                    std::string(width - entry.key.size() - entry.value.size(), ' '), entry.source);
  return text;
}

// The text of the machine file. Called on rank 0.
std::string file_text(const calibrate_request& asked, const team& ranks,
                      const machine_tables& measured) {
  const machine_text base(asked.base);
  const auto from_base = [&](const char* key, const std::string& otherwise) {
    const std::string value = base.value("machine", key);
    return value.empty() ? otherwise : value;
  };
  const bool has_base = !asked.base.empty();
  const auto& nodes = ranks.nodes();
  std::string text = fmt::format(
      "# Measured by longshore-bench calibrate on {}, {}, transport {}, ranks: {}, nodes: {}, by "
      "the\n# patterns named beside the numbers.{}\n",
      host_name(), today(), ranks.transport_name(), ranks.size(), nodes.node_count(),
      has_base ? fmt::format(" Other tables are those of {}.", asked.base) : "");
  text += fmt::format(
      "[machine]\nname = \"{}\"\nversion = \"{}\"\nnodes = {}\nranks_per_node = {}\n",
      asked.name.empty() ? from_base("name", host_name()) : asked.name, today(),
      std::max(nodes.node_count(), std::atoi(from_base("nodes", "1").c_str())),
      std::max(nodes.largest_node(), std::atoi(from_base("ranks_per_node", "1").c_str())));
  if (const auto machine = measured.find("machine"); machine != measured.end())
    text += entries_text(machine->second);
  else
    for (const char* const key : {"cores", "switch_ns"})
      if (const auto value = base.value("machine", key); !value.empty())
        text += fmt::format("{} = {}\n", key, value);
  for (const char* const name : {"network", "memory", "topology", "cost"}) {
    if (const auto found = measured.find(name); found != measured.end())
      text += fmt::format("\n[{}]\n{}", name, entries_text(found->second));
    else if (base.has(name))
      text += "\n" + base.table(name);
  }
  return text;
}

void write(const calibrate_request& asked, const std::string& text) {
  if (asked.output.empty()) {
    fmt::print("{}", text);
    std::fflush(stdout);
    return;
  }
  if (!(std::ofstream(asked.output) << text << std::flush))
    fail(errc::usage, "calibrate: --output: '{}' cannot be written", asked.output);
  detail::check_machine_file(asked.output);
}

void calibrate(const calibrate_request& asked, team& ranks, std::span<const pattern> patterns) {
  if (ranks.nodes().node_count() > 1 && asked.base.empty())
    fail(errc::usage,
         "calibrate: a launch on several nodes measures the network alone: run it on one node "
         "first, and give the file that it writes as --base FILE");
  if (ranks.size() < 2) fail(errc::usage, "calibrate: messages need at least 2 ranks");
  const auto measured = measure_machine(ranks, patterns, asked.repetitions);
  if (ranks.rank() == 0) write(asked, file_text(asked, ranks, measured));
}

}  // namespace

int run_calibrate_command(std::span<const char* const> words, std::span<const pattern> patterns) {
  return run_command([&]() -> int {
    const auto asked = parse_calibrate(words);
    if (!asked.help_text.empty()) return print_text(asked.help_text);
    if (!asked.base.empty()) detail::check_machine_file(asked.base);
    // Finds an unwritable file now, not after minutes of measuring.
    if (!asked.output.empty() && is_first_process() && !std::ofstream(asked.output, std::ios::app))
      fail(errc::usage, "calibrate: --output: '{}' cannot be written", asked.output);
    // The cost of copies between ranks is measured by direct reads, which plans avoid if they find
    // far caches.
    setenv("LONGSHORE_CACHES", "near", 1);
    runtime(asked.launch).run([&](team& ranks) { calibrate(asked, ranks, patterns); });
    return all_right;
  });
}

}  // namespace longshore::bench
