// How offsets into the parts of a table travel: as 32 bits wherever every part is small enough,
// since they are most of what a request weighs.
#pragma once

#include <longshore/array/distribution.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace longshore::detail {

template <class Map>
[[nodiscard]] bool has_narrow_offsets(const Map& map) noexcept {
  return map.largest_local_size() <= std::numeric_limits<std::uint32_t>::max();
}

template <class Map>
[[nodiscard]] std::size_t offset_bytes(const Map& map) noexcept {
  return has_narrow_offsets(map) ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
}

/// Calls body(Offset{}, locate), with the type that offsets travel as and the cheapest way to
/// locate an index.
template <class Map, class Body>
void with_offsets(const Map& map, Body&& body) {
  if (has_narrow_offsets(map))
    map.with_locator([&](auto locate) { body(std::uint32_t{}, locate); });
  else  // parts this large miss every cache: indexing no longer decides, and one loop will do
    body(std::uint64_t{}, [map](std::uint64_t index) { return map.owner_offset(index); });
}

}  // namespace longshore::detail
