// Reading environment variables. A value that cannot be parsed is an error; it never becomes the
// default silently.
#pragma once

#include <optional>
#include <string>

namespace longshore {

/// Returns the value of a variable, or nothing if the variable is unset or empty.
[[nodiscard]] std::optional<std::string> environment_text(const char* name);

/// Returns the value as an integer, or nothing if the variable is unset or empty. Throws
/// errc::usage unless the value is an integer in [low, high]; the message has the variable, the
/// value and the range.
[[nodiscard]] std::optional<long> environment_integer(const char* name, long low, long high);

/// The same for floating-point numbers.
[[nodiscard]] std::optional<double> environment_number(const char* name, double low, double high);

}  // namespace longshore
