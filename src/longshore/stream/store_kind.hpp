// The kinds of stores of a loop: ordinary stores go through the caches, streaming (non-temporal)
// stores bypass the caches.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace longshore {

enum class store_kind { ordinary, streaming };
inline constexpr std::array<std::string_view, 2> store_kind_names = {"ordinary", "streaming"};
[[nodiscard]] constexpr std::string_view name_of(store_kind stores) noexcept {
  return store_kind_names[static_cast<std::size_t>(stores)];
}

}  // namespace longshore
