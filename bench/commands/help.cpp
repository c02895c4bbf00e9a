// The texts of --help, for the program and for each pattern, and the list of the options that all
// patterns have. command_line.cpp makes the options of a pattern from this list.
#include "commands/help.hpp"

#include "commands/parse_levels.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace longshore::bench {
namespace {

// The values of running.hpp
constexpr const char* exit_statuses =
    "Exit status: 0 all ran and verified; 1 a result was wrong; 2 usage, or nothing could run; "
    "3 a run-time failure.";
constexpr std::size_t name_width = 26, line_width = 100;

// Breaks a text at spaces, so that lines have at most `width` characters.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    if (column > 0 && column + 1 + end - start > width) {
      lines += '\n';
      column = 0;
    }
    if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(start, end - start);
    column += end - start;
    start = end + 1;
  }
  return lines;
}

}  // namespace

const std::vector<std::string>& known_transports() {
  static const std::vector<std::string> names{"threads", "mpi", "shmem", "ucx", "simulated"};
  return names;
}

std::vector<common_option> common_options(const pattern& pattern) {
  std::vector<common_option> options{
      {"transport", "NAME",
       "threads, mpi, shmem, ucx or simulated; default: mpi under an MPI launcher, else threads"},
      {"machine", "FILE", "the machine file, for transport simulated"},
      {"ranks", "N",
       "number of ranks, for transports threads and simulated (a launcher has its own\noption); "
       "default: all cores, or the whole machine"},
      {"ranks-per-node", "N",
       "virtual nodes of N ranks; default: the real nodes, or those of the machine file"},
      {"repetitions", "N", "timed rounds over all variants; default: 10"},
      {"warmup", "N", "untimed rounds before them; default: 1"},
      {"iterations", "N",
       "operations per repetition; default: enough for 5 ms, or 1 where\nthe operation destroys "
       "its input"},
      {"verify", "WHICH",
       "all: the result of each repetition; ends: of the first and the last\nrun; no: none; "
       "default: all"},
      {"seed", "N", "seed of data and of the order of the variants; default: 122222"},
      {"json", "FILE",
       "write records, one JSON object per line; - is standard output, and\nthe table then goes to "
       "standard error"},
      {"no-verify", nullptr, "as --verify no"},
      {"no-shuffle", nullptr, "run the variants in the same order in each round"},
      {"no-noise-probe", nullptr,
       "leave out the noise probe and the line probe before each repetition"},
  };
  if (pattern.times_phases)
    options.push_back({"phases", nullptr,
                       "after each timed repetition, time the phases of another one: pack, send, "
                       "wait, unpack"});
  options.push_back({"help", nullptr, "this text"});
  return options;
}

const char* argument_name(const factor& factor) {
  switch (factor.type) {
    case factor::kind::word: return "LEVEL,...";
    case factor::kind::integer: return "N,...";
    case factor::kind::triple: return "X,Y,Z,...";
    case factor::kind::text: return "NAME,...";
  }
  return "";
}

std::string factor_help(const factor& factor) {
  std::string text = wrapped(factor.help, line_width - name_width);
  if (factor.type == factor::kind::word)
    text += "\n" + wrapped(fmt::format("levels: {}", fmt::join(factor.allowed, ", ")),
                           line_width - name_width);
  if (!factor.defaults.empty()) text += "\ndefault: " + factor.defaults;
  return text;
}

void set_help_layout(CLI::App& app, const pattern& pattern) {
  app.get_formatter()->column_width(name_width);
  std::string footer = "Commas make a list. One launch measures all combinations of the lists.\n";
  if (!pattern.examples.empty()) footer += "\nExamples:\n";
  for (const auto& example : pattern.examples) footer += "  " + example + "\n";
  app.footer(footer + "\n" + exit_statuses);
}

std::string program_help(std::span<const pattern> patterns) {
  std::string text =
      "Measures how fast the ranks of a parallel program exchange data, by pattern and "
      "strategy.\n\n"
      "  longshore-bench PATTERN [options]                 ranks are threads of this process\n"
      "  mpirun -n 4 longshore-bench PATTERN [options]     ranks are processes\n"
      "  longshore-bench PATTERN --help                    the options of a pattern, with "
      "examples\n"
      "  longshore-bench placement --help                  plans the placement of a grid of ranks; "
      "starts no ranks\n"
      "  longshore-bench calibrate --help                  writes the file of this machine, for "
      "transport simulated\n"
      "  longshore-bench --list                            patterns, factors and levels of this "
      "build, as JSON\n"
      "  longshore-bench --version\n\n"
      "Patterns:\n";
  for (const auto& pattern : patterns)
    text += fmt::format("  {:<10}{}\n", pattern.name, pattern.help);
  text += "\nExamples:\n";
  for (const auto& pattern : patterns)
    if (!pattern.examples.empty()) text += "  " + pattern.examples.front() + "\n";
  text +=
      "\nEnvironment: LONGSHORE_TRANSPORT, LONGSHORE_RANKS, LONGSHORE_RANKS_PER_NODE are defaults "
      "of the options;\n"
      "LONGSHORE_TIMEOUT is the deadline of every wait in seconds (300); LONGSHORE_CHECK=1 "
      "compares all collective\n"
      "calls of the ranks, also where that takes messages; LONGSHORE_PIN=0 leaves ranks unpinned,\n"
      "compact binds them to neighbouring cores and scatter (the default) over all of them;\n"
      "NO_COLOR leaves the table without colour.\n";
  return text + exit_statuses + "\n";
}

}  // namespace longshore::bench
