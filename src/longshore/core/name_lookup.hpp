// Names of the values of enumerations. Users type these names, and records contain them. A header
// that declares such an enumeration also specialises all_names for it.
#pragma once

#include <longshore/core/error.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace longshore {

/// The names of the values of an enumeration, in the order of the values.
template <std::size_t Count>
struct enum_names {
  std::string_view kind;  ///< what a value is, for error messages
  std::array<std::string_view, Count> names;
  int first = 0;  ///< the first value; each other value is one more than the value before it
};

template <class Enum>
inline constexpr enum_names<0> all_names = {};

template <class Enum>
concept named_enum = !all_names<Enum>.names.empty();

template <named_enum Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) noexcept {
  return all_names<Enum>.names[static_cast<std::size_t>(static_cast<int>(value) -
                                                        all_names<Enum>.first)];
}

/// All values, in order.
template <named_enum Enum>
[[nodiscard]] constexpr auto values_of() noexcept {
  std::array<Enum, all_names<Enum>.names.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<Enum>(all_names<Enum>.first + static_cast<int>(i));
  return values;
}

/// The value with this name. For an unknown name, throws errc::usage with a list of the names.
template <named_enum Enum>
[[nodiscard]] Enum from_name(std::string_view name) {
  std::string names;
  for (const Enum value : values_of<Enum>()) {
    if (name_of(value) == name) return value;
    names += names.empty() ? "" : ", ";
    names += name_of(value);
  }
  fail(errc::usage, "no {} is named '{}': it is one of {}", all_names<Enum>.kind, name, names);
}

}  // namespace longshore
