// The types that a bucket sort accepts: keys, items that contain a key, and pairs of key and value.
#pragma once

#include <longshore/core/bytes.hpp>

#include <concepts>
#include <type_traits>

namespace longshore {

/// A key: an integer of 8 to 64 bits, float or double.
template <class Key>
concept bucket_key =
    (std::integral<Key> && !std::same_as<std::remove_cv_t<Key>, bool> && sizeof(Key) <= 8) ||
    std::same_as<std::remove_cv_t<Key>, float> || std::same_as<std::remove_cv_t<Key>, double>;

/// An item, and a projection that returns its key: a pointer to a member, or a function.
template <class Item, class Projection>
concept bucket_item = trivially_copyable<Item> && std::copyable<Projection> &&
    bucket_key<std::remove_cvref_t<std::invoke_result_t<const Projection&, const Item&>>>;

/// The projection of items that are keys.
struct item_is_key {
  template <bucket_key Key>
  [[nodiscard]] constexpr const Key& operator()(const Key& item) const noexcept {
    return item;
  }
};

/// A key and the value that belongs to it.
template <bucket_key Key, trivially_copyable Value>
struct keyed {
  Key key;
  Value value;
};

}  // namespace longshore
