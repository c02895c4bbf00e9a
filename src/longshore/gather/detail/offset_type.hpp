// The type of offsets into the parts of a table in messages: 32 bits if all parts are small enough,
// since offsets are most of the bytes of a request.
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

/// Calls body(Offset{}, locate) with the type of offsets and the fastest function that locates an
/// index.
template <class Map, class Body>
void with_offsets(const Map& map, Body&& body) {
  if (has_narrow_offsets(map))
    map.with_locator([&](auto locate) { body(std::uint32_t{}, locate); });
  else  // such large parts miss every cache: locating hardly counts, so one loop suffices
    body(std::uint64_t{}, [map](std::uint64_t index) { return map.owner_offset(index); });
}

}  // namespace longshore::detail
