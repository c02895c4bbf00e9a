// Keys of any type as unsigned numbers that compare as the keys do: buckets and radix sorts know
// nothing else of keys.
#pragma once

#include <longshore/core/bytes.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

namespace longshore {

/// Types that can be sorted by bucket: integers of 8 to 64 bits, float and double.
template <class Key>
concept bucket_key =
    (std::integral<Key> && !std::same_as<std::remove_cv_t<Key>, bool> && sizeof(Key) <= 8) ||
    std::same_as<std::remove_cv_t<Key>, float> || std::same_as<std::remove_cv_t<Key>, double>;

namespace detail {

template <std::size_t Bytes>
using unsigned_of_size = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// The image of a key. Floating keys are ordered as IEEE 754's totalOrder has it, by their bits:
/// -0.0 below 0.0; a NaN without sign above infinity, one with the sign bit below -infinity.
template <bucket_key Key>
[[nodiscard]] constexpr auto image_of(Key key) noexcept {
  using image = unsigned_of_size<sizeof(Key)>;
  constexpr image sign = static_cast<image>(image{1} << (8 * sizeof(Key) - 1));
  const auto bits = std::bit_cast<image>(key);
  if constexpr (std::is_floating_point_v<Key>)
    return static_cast<image>(bits ^
                              (static_cast<image>(0 - (bits >> (8 * sizeof(Key) - 1))) | sign));
  else if constexpr (std::is_signed_v<Key>)
    return static_cast<image>(bits ^ sign);
  else
    return bits;
}

/// The key of an image.
template <bucket_key Key>
[[nodiscard]] constexpr Key key_of(unsigned_of_size<sizeof(Key)> image) noexcept {
  using bits = unsigned_of_size<sizeof(Key)>;
  constexpr bits sign = static_cast<bits>(bits{1} << (8 * sizeof(Key) - 1));
  if constexpr (std::is_floating_point_v<Key>)
    return std::bit_cast<Key>(
        static_cast<bits>(image ^ ((image & sign) != 0 ? sign : static_cast<bits>(~bits{0}))));
  else if constexpr (std::is_signed_v<Key>)
    return std::bit_cast<Key>(static_cast<bits>(image ^ sign));
  else
    return std::bit_cast<Key>(image);
}

/// The image of an item's key, which a projection gives: a pointer to a member, or a function.
template <class Item, class Projection>
struct item_image {
  using key = std::remove_cvref_t<std::invoke_result_t<const Projection&, const Item&>>;
  using type = unsigned_of_size<sizeof(key)>;
  [[no_unique_address]] Projection projection;
  [[nodiscard]] type operator()(const Item& item) const noexcept {
    return image_of<key>(std::invoke(projection, item));
  }
};

}  // namespace detail

/// Items that can be sorted by the key that a projection finds in them.
template <class Item, class Projection>
concept bucket_item = trivially_copyable<Item> && std::copyable<Projection> &&
    bucket_key<std::remove_cvref_t<std::invoke_result_t<const Projection&, const Item&>>>;

/// A key with what belongs to it.
template <bucket_key Key, trivially_copyable Value>
struct keyed {
  Key key;
  Value value;
};

}  // namespace longshore
