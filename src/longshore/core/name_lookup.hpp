// Finds the entry of a list that a user typed by name. The error for an unknown name lists all
// names.
#pragma once

#include <longshore/core/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace longshore {

/// The name of a list entry, which is a text or has a member `name`.
[[nodiscard]] constexpr std::string_view listed_name(std::string_view entry) noexcept {
  return entry;
}
template <class Entry>
requires requires(const Entry& entry) { std::string_view(entry.name); }
[[nodiscard]] constexpr std::string_view listed_name(const Entry& entry) noexcept {
  return entry.name;
}

/// The index of `name` in `entries`. Throws errc::usage for an unknown name. The message begins
/// with `message_start`, for instance "no halo mode is named".
template <class List>
[[nodiscard]] std::size_t index_of_name(const List& entries, std::string_view name,
                                        std::string_view message_start) {
  std::string names;
  std::size_t index = 0;
  for (const auto& entry : entries) {
    if (listed_name(entry) == name) return index;
    names += names.empty() ? "" : ", ";
    names += listed_name(entry);
    ++index;
  }
  fail(errc::usage, "{} '{}': it is one of {}", message_start, name, names);
}

}  // namespace longshore
