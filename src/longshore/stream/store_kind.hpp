// The kinds of stores of a loop: ordinary stores go through the caches, streaming (non-temporal)
// stores bypass the caches.
#pragma once

#include <longshore/core/name_lookup.hpp>

namespace longshore {

enum class store_kind { ordinary, streaming };
template <>
inline constexpr enum_names<2> all_names<store_kind> = {"kind of stores",
                                                        {"ordinary", "streaming"}};

}  // namespace longshore
