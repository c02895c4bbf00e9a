// Reading environment variables. A value that cannot be parsed is an error; it never becomes the
// default silently.
#pragma once

#include <optional>
#include <string>

namespace longshore {

/// Value of a variable; nothing if the variable is unset or empty.
[[nodiscard]] std::optional<std::string> environment_text(const char* name);

/// Value as an integer in [low, high]. Throws errc::usage with the variable, the value and the
/// range in the message.
[[nodiscard]] std::optional<long> environment_integer(const char* name, long low, long high);

/// Value as a number in [low, high]. Throws as environment_integer does.
[[nodiscard]] std::optional<double> environment_number(const char* name, double low, double high);

}  // namespace longshore
