// Turns an item size that is known at run time into a compile-time constant for copy loops.
#pragma once

#include <cstddef>
#include <type_traits>

namespace longshore::detail {

/// Calls body(size). `size` is an integral_constant: of `item_bytes` if that is a common size, else
/// of 0.
template <class Body>
decltype(auto) with_item_size(std::size_t item_bytes, Body&& body) {
  switch (item_bytes) {
    case 4: return body(std::integral_constant<std::size_t, 4>{});
    case 8: return body(std::integral_constant<std::size_t, 8>{});
    case 12: return body(std::integral_constant<std::size_t, 12>{});
    case 16: return body(std::integral_constant<std::size_t, 16>{});
    case 24: return body(std::integral_constant<std::size_t, 24>{});
    case 32: return body(std::integral_constant<std::size_t, 32>{});
    default: return body(std::integral_constant<std::size_t, 0>{});
  }
}

}  // namespace longshore::detail
