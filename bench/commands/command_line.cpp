// Turns the words of a command line into a request. CLI11 separates the options from their values,
// and this file checks the values, so that each refusal names what is allowed.
#include "commands/command_line.hpp"

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>

#include "commands/help.hpp"
#include "commands/parse_levels.hpp"
#include "facts/program.hpp"
#include "harness/variants.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace longshore::bench {
namespace {

constexpr long max_ranks_of_a_run = 1L << 20;
constexpr long max_repetitions = 1'000'000;
constexpr long max_iterations = 1'000'000'000;

// The texts of a command line, as CLI11 separates them into options and values.
struct typed_options {
  // Indexed by option name without dashes, one value per occurrence of the option
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> flags;
};

void add_options(CLI::App& app, const pattern& pattern, typed_options& typed) {
  const auto add = [&](const std::string& name, const char* group, const char* argument,
                       const std::string& text) {
    app.add_option("--" + name, typed.values[name], text)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(argument)
        ->group(group);
  };
  for (const auto& factor : pattern.factors)
    add(factor.name, "Factors", argument_name(factor), factor_help(factor));
  constexpr const char* common = "Common options";
  for (const auto& option : common_options(pattern))
    if (option.argument != nullptr)
      add(option.name, common, option.argument, option.help);
    else
      app.add_flag((option.name == "help" ? "-h,--" : "--") + option.name, typed.flags[option.name],
                   option.help)
          ->group(common);
}

std::vector<std::string> option_names(const pattern& pattern) {
  std::vector<std::string> names;
  for (const auto& factor : pattern.factors) names.push_back("--" + factor.name);
  for (const auto& option : common_options(pattern)) names.push_back("--" + option.name);
  return names;
}

[[noreturn]] void refuse_word(const std::string& word, const pattern& pattern) {
  if (!word.starts_with("-"))
    fail(errc::usage,
         "'{}' is given without an option; {} takes options only: longshore-bench {} --help lists "
         "them",
         word, pattern.name, pattern.name);
  const std::string option = word.substr(0, word.find('='));
  const auto names = option_names(pattern);
  fail(errc::usage, "{} is no option of {}{}; longshore-bench {} --help lists them", option,
       pattern.name, suggestion(option, names), pattern.name);
}

// The value of an option that takes one value.
std::optional<std::string> value_of(const typed_options& typed, const std::string& name) {
  const auto& values = typed.values.at(name);
  if (values.empty()) return std::nullopt;
  if (values.size() > 1)
    fail(errc::usage, "--{} is given {} times ({}); it takes one value", name, values.size(),
         fmt::format("{}", fmt::join(values, ", ")));
  return values.front();
}

// The number of an option that takes one number; `default_value` if the option is not given.
long number(const typed_options& typed, const std::string& name, long low, long high,
            long default_value) {
  const auto text = value_of(typed, name);
  if (!text) return default_value;
  if (text->find(',') != std::string::npos)
    fail(errc::usage,
         "--{}: '{}' is a list; a launch takes one value, a whole number from {} to {}", name,
         *text, low, high);
  return parse_number("--" + name, *text, low, high);
}

std::vector<factor_levels> factors_of(const pattern& pattern, const typed_options& typed) {
  std::vector<factor_levels> factors;
  for (const auto& factor : pattern.factors) {
    const auto& values = typed.values.at(factor.name);
    factors.push_back(
        {factor.name, values.empty()
                          ? default_levels(factor)
                          : parse_levels(factor, fmt::format("{}", fmt::join(values, ",")))});
  }
  return factors;
}

run_options launch_of(const typed_options& typed) {
  run_options options = options_from_environment();
  constexpr bool pin_by_default = true;  // the library alone leaves ranks unpinned
  read_pinning(options, pin_by_default);
  if (const auto transport = value_of(typed, "transport")) {
    const auto& known = known_transports();
    if (std::find(known.begin(), known.end(), *transport) == known.end())
      fail(errc::usage, "--transport: '{}' is not one of {}{}", *transport,
           fmt::format("{}", fmt::join(known, ", ")), suggestion(*transport, known));
    options.transport = chosen_transport(*transport);
  }
  if (const auto machine = value_of(typed, "machine")) {
    if (options.transport != "simulated")
      fail(errc::usage, "--machine: for transport simulated only; add --transport simulated");
    options.machine = *machine;
  }
  options.ranks = static_cast<int>(number(typed, "ranks", 1, max_ranks_of_a_run, options.ranks));
  options.ranks_per_node = static_cast<int>(
      number(typed, "ranks-per-node", 1, max_ranks_of_a_run, *options.ranks_per_node));
  return options;
}

verification verification_of(const typed_options& typed) {
  static const std::vector<std::string> names(verification_names.begin(), verification_names.end());
  const auto word = value_of(typed, "verify");
  const bool no_verify = typed.flags.at("no-verify");
  if (no_verify && word && *word != "no")
    fail(errc::usage, "--verify {} and --no-verify contradict each other: give one of them", *word);
  if (no_verify) return verification::no;
  const auto found = std::find(names.begin(), names.end(), word.value_or(names[0]));
  if (found == names.end())
    fail(errc::usage, "--verify: '{}' is not one of {}{}", *word,
         fmt::format("{}", fmt::join(names, ", ")), suggestion(*word, names));
  return static_cast<verification>(found - names.begin());
}

sweep_options sweep_options_of(const pattern& pattern, const typed_options& typed) {
  sweep_options options;
  options.repetitions =
      static_cast<int>(number(typed, "repetitions", 1, max_repetitions, options.repetitions));
  options.warmup = static_cast<int>(number(typed, "warmup", 0, max_repetitions, options.warmup));
  // A user cannot give 0, which means that each variant is calibrated.
  options.iterations = number(typed, "iterations", 1, max_iterations, 0);
  options.seed = static_cast<std::uint64_t>(
      number(typed, "seed", 0, std::numeric_limits<long>::max(), static_cast<long>(options.seed)));
  options.verify = verification_of(typed);
  options.shuffle = !typed.flags.at("no-shuffle");
  options.noise_probe = !typed.flags.at("no-noise-probe");
  options.phases = pattern.times_phases && typed.flags.at("phases");
  return options;
}

request parse_pattern(const pattern& pattern, std::vector<std::string> words) {
  typed_options typed;
  CLI::App app(pattern.help, "longshore-bench " + pattern.name);
  app.set_help_flag();  // without arguments: removes CLI11's own --help, which would throw
  app.allow_extras();   // keeps unknown words, so that refuse_word() can suggest a similar option
  set_help_layout(app, pattern);
  add_options(app, pattern, typed);
  std::reverse(words.begin(), words.end());  // the order that CLI11 expects
  try {
    app.parse(words);
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string message = e.what();  // "--option: ..."
    fail(errc::usage, "{}: its value is missing; longshore-bench {} --help lists the options",
         message.substr(0, message.find(':')), pattern.name);
  } catch (const CLI::ParseError& e) {
    fail(errc::usage, "{}; longshore-bench {} --help lists the options", e.what(), pattern.name);
  }
  request asked;
  asked.measured = &pattern;
  if (typed.flags.at("help")) {
    asked.requested = request::action::print;
    asked.text = app.help();
    return asked;
  }
  if (const auto rest = app.remaining(); !rest.empty()) refuse_word(rest.front(), pattern);
  asked.factors = factors_of(pattern, typed);
  // Called only for its error: too many combinations are refused before the ranks start.
  static_cast<void>(cross_product(asked.factors));
  if (pattern.check) {
    std::map<std::string, std::vector<json>> levels;
    for (const auto& factor : asked.factors) levels[factor.name] = factor.levels;
    pattern.check(levels);
  }
  asked.launch = launch_of(typed);
  asked.options = sweep_options_of(pattern, typed);
  asked.json_file = value_of(typed, "json");
  if (asked.json_file && asked.json_file->empty())
    fail(errc::usage, "--json: the name of a file, or - for standard output, is needed");
  return asked;
}

}  // namespace

request parse_command_line(int argc, const char* const* argv, std::span<const pattern> patterns) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  std::vector<std::string> names;
  for (const auto& pattern : patterns) names.push_back(pattern.name);
  if (words.empty())
    fail(errc::usage, "the pattern is missing: one of {}; longshore-bench --help says more",
         fmt::format("{}", fmt::join(names, ", ")));

  const std::string first = words.front();
  request asked;
  asked.requested = request::action::print;
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
    asked.requested = request::action::list;
    return asked;
  }
  if (first.starts_with("-"))
    fail(errc::usage,
         "{}: the pattern comes first, then its options: longshore-bench PATTERN [options], with "
         "PATTERN one of {}",
         first, fmt::format("{}", fmt::join(names, ", ")));
  const auto name = std::find(names.begin(), names.end(), first);
  if (name == names.end())
    fail(errc::usage, "'{}' is no pattern; allowed: {}{}", first,
         fmt::format("{}", fmt::join(names, ", ")), suggestion(first, names));
  words.erase(words.begin());
  return parse_pattern(patterns[static_cast<std::size_t>(name - names.begin())], std::move(words));
}

}  // namespace longshore::bench
