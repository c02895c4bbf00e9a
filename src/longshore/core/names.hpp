// Choices that users type by name: where a name stands in a list, or an error that tells the whole
// list.
#pragma once

#include <longshore/core/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace longshore {

/// The name of an entry of a list: a text, or a thing with one called `name`.
[[nodiscard]] constexpr std::string_view name_in_list(std::string_view entry) noexcept {
  return entry;
}
template <class Entry>
requires requires(const Entry& entry) { std::string_view(entry.name); }
[[nodiscard]] constexpr std::string_view name_in_list(const Entry& entry) noexcept {
  return entry.name;
}

/// The place of `name` in `list`. `no_such` begins the message of errc::usage, which is thrown for
/// a name that is not there: "no halo mode is named".
template <class List>
[[nodiscard]] std::size_t place_of_name(const List& list, std::string_view name,
                                        std::string_view no_such) {
  std::string names;
  std::size_t place = 0;
  for (const auto& entry : list) {
    if (name_in_list(entry) == name) return place;
    names += names.empty() ? "" : ", ";
    names += name_in_list(entry);
    ++place;
  }
  fail(errc::usage, "{} '{}': it is one of {}", no_such, name, names);
}

}  // namespace longshore
