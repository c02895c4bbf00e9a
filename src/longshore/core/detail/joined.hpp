// Lists in messages. fmt::join would do, but its header puts the code that formats all types, 40 kB,
// into each program.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace longshore::detail {

/// The values, numbers or texts, with `between` between them: "1, 2, 3".
template <class Values>
[[nodiscard]] std::string joined(const Values& values, std::string_view between = ", ") {
  std::string text;
  bool is_first = true;
  for (const auto& value : values) {
    if (!is_first) text += between;
    is_first = false;
    if constexpr (std::convertible_to<decltype(value), std::string_view>)
      text += value;
    else
      text += std::to_string(value);
  }
  return text;
}

}  // namespace longshore::detail
