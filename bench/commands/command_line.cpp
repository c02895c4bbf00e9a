#include "commands/command_line.hpp"

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>

#include "commands/help.hpp"
#include "commands/parse_levels.hpp"
#include "commands/suggestion.hpp"
#include "facts/program.hpp"
#include "harness/variants.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace longshore::bench {
namespace {

constexpr long most_ranks_of_a_run = 1L << 20;
constexpr long most_repetitions = 1'000'000;
constexpr long most_iterations = 1'000'000'000;

// The typed words, before their meaning is known: CLI11 separates options from values, this file
// interprets them.
struct typed {
  // By option name without dashes, one entry per occurrence
  std::map<std::string, std::vector<std::string>> values;
  bool no_verify = false, no_shuffle = false, no_noise_probe = false, help = false;
};

void add_options(CLI::App& app, const pattern& what, typed& into) {
  const auto add = [&](const std::string& name, const char* group, const char* argument,
                       const std::string& text) {
    app.add_option("--" + name, into.values[name], text)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(argument)
        ->group(group);
  };
  for (const auto& factor : what.factors)
    add(factor.name, "Factors", argument_name(factor), factor_help(factor));
  for (const auto& option : common_options())
    add(option.name, "Common options", option.argument, option.help);
  app.add_flag("--no-verify", into.no_verify, "leave out the check of the results")
      ->group("Common options");
  app.add_flag("--no-shuffle", into.no_shuffle, "run the variants in the same order in each round")
      ->group("Common options");
  app.add_flag(
         "--no-noise-probe,--no-pulse", into.no_noise_probe,
         "leave out the small exchange before each repetition, with which compare removes noise")
      ->group("Common options");
  app.add_flag("-h,--help", into.help, "this text")->group("Common options");
}

std::vector<std::string> option_names(const pattern& what) {
  std::vector<std::string> names{"--no-verify", "--no-shuffle", "--no-noise-probe", "--no-pulse",
                                 "--help"};
  for (const auto& factor : what.factors) names.push_back("--" + factor.name);
  for (const auto& option : common_options()) names.push_back("--" + option.name);
  return names;
}

[[noreturn]] void refuse_rest(const std::string& word, const pattern& what) {
  if (!word.starts_with("-"))
    fail(errc::usage,
         "'{}' is given without an option; {} takes options only: longshore-bench {} --help lists "
         "them",
         word, what.name, what.name);
  const std::string option = word.substr(0, word.find('='));
  const auto names = option_names(what);
  fail(errc::usage, "{} is no option of {}{}; longshore-bench {} --help lists them", option,
       what.name, suggestion(option, names), what.name);
}

// The single value of an option that is no factor.
std::optional<std::string> single(const typed& given, const std::string& name) {
  const auto& values = given.values.at(name);
  if (values.empty()) return std::nullopt;
  if (values.size() > 1)
    fail(errc::usage, "--{} is given {} times ({}); it takes one value", name, values.size(),
         fmt::format("{}", fmt::join(values, ", ")));
  return values.front();
}

long number(const typed& given, const std::string& name, long low, long high, long otherwise) {
  const auto text = single(given, name);
  if (!text) return otherwise;
  if (text->find(',') != std::string::npos)
    fail(errc::usage,
         "--{}: '{}' is a list; a launch takes one value, a whole number from {} to {}", name,
         *text, low, high);
  return parse_number("--" + name, *text, low, high);
}

std::vector<factor_levels> factors_of(const pattern& what, const typed& given) {
  std::vector<factor_levels> all;
  for (const auto& factor : what.factors) {
    const auto& values = given.values.at(factor.name);
    all.push_back(
        {factor.name, values.empty()
                          ? default_levels(factor)
                          : parse_levels(factor, fmt::format("{}", fmt::join(values, ",")))});
  }
  return all;
}

run_options launch_of(const typed& given) {
  run_options options = options_from_environment();
  read_pinning(options, true);
  if (const auto transport = single(given, "transport")) {
    const auto& known = known_transports();
    const auto available = available_transports();
    if (std::find(known.begin(), known.end(), *transport) == known.end())
      fail(errc::usage, "--transport: '{}' is not one of {}{}", *transport,
           fmt::format("{}", fmt::join(known, ", ")), suggestion(*transport, known));
    if (std::find(available.begin(), available.end(), *transport) == available.end())
      fail(errc::usage, "--transport: '{}' is not in this build, which has {}", *transport,
           fmt::format("{}", fmt::join(available, ", ")));
    options.transport = *transport;
  }
  options.ranks = static_cast<int>(number(given, "ranks", 1, most_ranks_of_a_run, options.ranks));
  options.ranks_per_node = static_cast<int>(
      number(given, "ranks-per-node", 1, most_ranks_of_a_run, options.ranks_per_node));
  return options;
}

sweep_options sweep_options_of(const typed& given) {
  sweep_options how;
  how.repetitions =
      static_cast<int>(number(given, "repetitions", 1, most_repetitions, how.repetitions));
  how.warmup = static_cast<int>(number(given, "warmup", 0, most_repetitions, how.warmup));
  how.iterations = number(given, "iterations", 1, most_iterations, 0);
  how.seed = static_cast<std::uint64_t>(
      number(given, "seed", 0, std::numeric_limits<long>::max(), static_cast<long>(how.seed)));
  how.verify = !given.no_verify;
  how.shuffle = !given.no_shuffle;
  how.noise_probe = !given.no_noise_probe;
  return how;
}

request parse_pattern(const pattern& what, std::vector<std::string> words) {
  typed given;
  CLI::App app(what.help, "longshore-bench " + what.name);
  app.set_help_flag();
  app.allow_extras();
  describe(app, what);
  add_options(app, what, given);
  std::reverse(words.begin(), words.end());  // the order that CLI11 expects
  try {
    app.parse(words);
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string message = e.what();
    fail(errc::usage, "{}: its value is missing; longshore-bench {} --help lists the options",
         message.substr(0, message.find(':')), what.name);
  } catch (const CLI::ParseError& e) {
    fail(errc::usage, "{}; longshore-bench {} --help lists the options", e.what(), what.name);
  }
  request asked;
  asked.measured = &what;
  if (given.help) {
    asked.what = request::kind::print;
    asked.text = app.help();
    return asked;
  }
  if (const auto rest = app.remaining(); !rest.empty()) refuse_rest(rest.front(), what);
  asked.factors = factors_of(what, given);
  // Refuses too many combinations on every process, before the start
  static_cast<void>(cross_product(asked.factors));
  if (what.check) {
    std::map<std::string, std::vector<json>> levels;
    for (const auto& factor : asked.factors) levels[factor.name] = factor.levels;
    what.check(levels);
  }
  asked.launch = launch_of(given);
  asked.how = sweep_options_of(given);
  asked.json_file = single(given, "json");
  if (asked.json_file && asked.json_file->empty())
    fail(errc::usage, "--json: the name of a file, or - for standard output, is needed");
  return asked;
}

}  // namespace

request parse_command_line(int argc, const char* const* argv, std::span<const pattern> patterns) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  std::vector<std::string> names;
  for (const auto& what : patterns) names.push_back(what.name);
  if (words.empty())
    fail(errc::usage, "the pattern is missing: one of {}; longshore-bench --help says more",
         fmt::format("{}", fmt::join(names, ", ")));

  const std::string first = words.front();
  request asked;
  asked.what = request::kind::print;
  if (first == "--help" || first == "-h" || first == "help") {
    asked.text = program_help(patterns);
    return asked;
  }
  if (first == "--version") {
    asked.text = version_text() + "\n";
    return asked;
  }
  if (first == "--list") {
    if (words.size() > 1) fail(errc::usage, "--list stands alone: remove '{}'", words[1]);
    asked.what = request::kind::list;
    return asked;
  }
  if (first.starts_with("-"))
    fail(errc::usage,
         "{}: the pattern comes first, then its options: longshore-bench PATTERN [options], with "
         "PATTERN one of {}",
         first, fmt::format("{}", fmt::join(names, ", ")));
  const auto found = std::find(names.begin(), names.end(), first);
  if (found == names.end())
    fail(errc::usage, "'{}' is no pattern; allowed: {}{}", first,
         fmt::format("{}", fmt::join(names, ", ")), suggestion(first, names));
  words.erase(words.begin());
  return parse_pattern(patterns[static_cast<std::size_t>(found - names.begin())], std::move(words));
}

}  // namespace longshore::bench
