// Finds a choice that a user typed by name. If it is unknown, the error lists all names.
#pragma once

#include <longshore/core/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace longshore {

/// The name of a list entry. The entry is a text, or has a member `name`.
[[nodiscard]] constexpr std::string_view listed_name(std::string_view entry) noexcept {
  return entry;
}
template <class Entry>
requires requires(const Entry& entry) { std::string_view(entry.name); }
[[nodiscard]] constexpr std::string_view listed_name(const Entry& entry) noexcept {
  return entry.name;
}

/// The index of `name` in `list`. Throws errc::usage for an unknown name; `no_such` is the
/// beginning of its message, for instance "no halo mode is named".
template <class List>
[[nodiscard]] std::size_t index_of_name(const List& list, std::string_view name,
                                        std::string_view no_such) {
  std::string names;
  std::size_t index = 0;
  for (const auto& entry : list) {
    if (listed_name(entry) == name) return index;
    names += names.empty() ? "" : ", ";
    names += listed_name(entry);
    ++index;
  }
  fail(errc::usage, "{} '{}': it is one of {}", no_such, name, names);
}

}  // namespace longshore
