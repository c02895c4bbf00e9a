// A radix key is the unsigned integer that stands for a key: radix keys compare in the same order
// as the keys. Buckets and radix sorts work on radix keys, so they need no code per type of key.
#pragma once

#include <longshore/sort/keys.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace longshore::detail {

template <std::size_t Bytes>
using unsigned_of_size = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// The radix key of a key. Floating keys are ordered as by IEEE 754's totalOrder: -0.0 is below
/// 0.0, a NaN without sign bit is above infinity, and a NaN with sign bit is below -infinity.
template <bucket_key Key>
[[nodiscard]] constexpr auto radix_key_of(Key key) noexcept {
  using radix_key = unsigned_of_size<sizeof(Key)>;
  constexpr auto sign = static_cast<radix_key>(radix_key{1} << (8 * sizeof(Key) - 1));
  const auto bits = std::bit_cast<radix_key>(key);
  // Larger negative floating numbers have smaller bit patterns. So a negative number gets all bits
  // inverted, and any other number only the sign bit.
  if constexpr (std::is_floating_point_v<Key>)
    return static_cast<radix_key>(
        bits ^ (static_cast<radix_key>(0 - (bits >> (8 * sizeof(Key) - 1))) | sign));
  else if constexpr (std::is_signed_v<Key>)
    return static_cast<radix_key>(bits ^ sign);
  else
    return bits;
}

/// The inverse of radix_key_of.
template <bucket_key Key>
[[nodiscard]] constexpr Key key_from_radix_key(unsigned_of_size<sizeof(Key)> radix_key) noexcept {
  using bits = unsigned_of_size<sizeof(Key)>;
  constexpr bits sign = static_cast<bits>(bits{1} << (8 * sizeof(Key) - 1));
  if constexpr (std::is_floating_point_v<Key>)
    return std::bit_cast<Key>(static_cast<bits>(
        radix_key ^ ((radix_key & sign) != 0 ? sign : static_cast<bits>(~bits{0}))));
  else if constexpr (std::is_signed_v<Key>)
    return std::bit_cast<Key>(static_cast<bits>(radix_key ^ sign));
  else
    return std::bit_cast<Key>(radix_key);
}

/// Returns the radix key of an item, whose key the projection returns.
template <class Item, class Projection>
struct item_radix_key {
  using key = std::remove_cvref_t<std::invoke_result_t<const Projection&, const Item&>>;
  using type = unsigned_of_size<sizeof(key)>;
  [[no_unique_address]] Projection projection;
  [[nodiscard]] type operator()(const Item& item) const noexcept {
    // As std::invoke would: <functional> takes long to compile.
    if constexpr (std::is_member_object_pointer_v<Projection>)
      return radix_key_of<key>(item.*projection);
    else if constexpr (std::is_member_function_pointer_v<Projection>)
      return radix_key_of<key>((item.*projection)());
    else
      return radix_key_of<key>(projection(item));
  }
};

}  // namespace longshore::detail
