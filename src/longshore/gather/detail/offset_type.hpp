// The type of the offsets in messages, which say where an element lies in its owner's part of the
// table. Offsets are most of the bytes of a request, so they have 32 bits if all parts are small.
#pragma once

#include <longshore/array/distribution.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace longshore::detail {

template <class Map>
[[nodiscard]] bool has_32_bit_offsets(const Map& map) noexcept {
  return map.largest_local_size() <= std::numeric_limits<std::uint32_t>::max();
}

template <class Map>
[[nodiscard]] std::size_t offset_bytes(const Map& map) noexcept {
  return has_32_bit_offsets(map) ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
}

/// Calls body(Offset{}, locate), where locate(index) returns the owner and offset of an index.
template <class Map, class Body>
void with_offsets(const Map& map, Body&& body) {
  if (has_32_bit_offsets(map))
    map.with_locator([&](auto locate) { body(std::uint32_t{}, locate); });
  else  // Such large parts miss every cache, so the time of locate() hardly counts.
    body(std::uint64_t{}, [map](std::uint64_t index) { return map.owner_offset(index); });
}

}  // namespace longshore::detail
