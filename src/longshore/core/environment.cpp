// Reads environment variables. A number must fill the whole text and lie in the given range;
// anything else is an error that shows the variable, the text and the range.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>

#include <charconv>
#include <cstdlib>

namespace longshore {
namespace {

template <class Number>
std::optional<Number> parse(const char* name, Number low, Number high) {
  const auto text = environment_text(name);
  if (!text) return std::nullopt;
  Number value{};
  const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), value);
  // The whole comparison is negated, so that a NaN is refused, too.
  if (status != std::errc{} || end != text->data() + text->size() ||
      !(value >= low && value <= high))
    fail(errc::usage, "{}='{}' is not a number from {} to {}", name, *text, low, high);
  return value;
}

}  // namespace

std::optional<std::string> environment_text(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<long> environment_integer(const char* name, long low, long high) {
  return parse<long>(name, low, high);
}

std::optional<double> environment_number(const char* name, double low, double high) {
  return parse<double>(name, low, high);
}

}  // namespace longshore
