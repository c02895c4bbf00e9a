#include "command_line.hpp"

#include <longshore/core/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace examples {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : std::string(between)) + word;
  return all;
}

std::string allowed(const option& o) {
  if (!o.words.empty()) return joined(o.words, ", ");
  return fmt::format("a {} from {} to {}", o.is_whole ? "whole number" : "number", o.low, o.high);
}

bool is_allowed(const option& o, const std::string& value) {
  if (!o.words.empty()) return std::find(o.words.begin(), o.words.end(), value) != o.words.end();
  double number = 0;
  std::uint64_t whole = 0;
  const char* const end = value.data() + value.size();
  const auto read = o.is_whole ? std::from_chars(value.data(), end, whole)
                               : std::from_chars(value.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return false;
  if (o.is_whole) number = static_cast<double>(whole);
  return number >= o.low && number <= o.high;
}

}  // namespace

command_line::command_line(int argc, const char* const* argv, std::vector<option> options)
    : options_(std::move(options)) {
  for (int i = 1; i < argc; ++i) {
    const std::string typed = argv[i];
    if (typed == "--help" || typed == "-h") {
      asks_for_help_ = true;
      continue;
    }
    const std::size_t equals = typed.find('=');
    const std::string name = typed.substr(0, equals);
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const option& o) { return name == "--" + o.name; });
    if (found == options_.end()) {
      std::vector<std::string> names;
      for (const option& o : options_) names.push_back("--" + o.name);
      longshore::fail(longshore::errc::usage, "there is no option {}; there are {}", name,
                      joined(names, ", "));
    }
    if (equals == std::string::npos && i + 1 == argc)
      longshore::fail(longshore::errc::usage, "{} needs a value: {}", name, allowed(*found));
    const std::string value = equals == std::string::npos ? argv[++i] : typed.substr(equals + 1);
    if (!is_allowed(*found, value))
      longshore::fail(longshore::errc::usage, "{} was given '{}'; allowed: {}", name, value,
                      allowed(*found));
    found->value = value;
  }
}

const option& command_line::of(std::string_view name) const {
  for (const option& o : options_)
    if (o.name == name) return o;
  throw std::logic_error("the program has no option " + std::string(name));
}

std::uint64_t command_line::whole(std::string_view name) const {
  return std::stoull(of(name).value);
}

double command_line::number(std::string_view name) const { return std::stod(of(name).value); }

std::string command_line::help() const {
  std::string text;
  for (const option& o : options_)
    text += fmt::format("  --{:<16} {} (default {}{})\n", o.name, o.help,
                        o.value.empty() ? "none" : o.value,
                        o.words.empty() ? "" : "; " + joined(o.words, ", "));
  return text;
}

}  // namespace examples
