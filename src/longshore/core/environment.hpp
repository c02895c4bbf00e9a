// Reading environment variables: a value that does not parse is an error, never silently the
// default.
#pragma once

#include <optional>
#include <string>

namespace longshore {

/// Value of a variable; nothing when it is unset or empty.
[[nodiscard]] std::optional<std::string> environment_text(const char* name);

/// Value as a whole number in [low, high]. Throws errc::usage that names the variable, the value
/// and the range.
[[nodiscard]] std::optional<long> environment_integer(const char* name, long low, long high);

/// Value as a number in [low, high]. Throws errc::usage that names the variable, the value and the
/// range.
[[nodiscard]] std::optional<double> environment_number(const char* name, double low, double high);

}  // namespace longshore
