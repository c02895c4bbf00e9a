// Names of element types, which ranks compare and messages show.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <typeinfo>

namespace longshore {

/// "int8" to "uint64", "float32", "float64"; the compiler's name of any other type. Two ranks of a
/// program have the same name for the same type.
template <class T>
[[nodiscard]] std::string_view type_name() noexcept {
  if constexpr (std::same_as<T, float>) return "float32";
  if constexpr (std::same_as<T, double>) return "float64";
  if constexpr (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) {
    constexpr std::string_view names[2][4] = {{"uint8", "uint16", "uint32", "uint64"},
                                              {"int8", "int16", "int32", "int64"}};
    constexpr std::size_t size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return names[static_cast<T>(-1) < T{} ? 1 : 0][size];
  }
  return typeid(T).name();
}

}  // namespace longshore
