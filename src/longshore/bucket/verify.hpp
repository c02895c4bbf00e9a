// Whether a distributed sort did what it should: order within and across ranks, the number of keys, and that they are the same
// keys.
#pragma once

#include <longshore/bucket/key_buckets.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace longshore {

/// What is left of keys when their order is forgotten. A key lost, doubled or changed changes `count`, or `sum` and `xored`
/// with certainty; several at once go unseen with a chance of some 2^-64.
struct key_content {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;    ///< of the mixed keys, modulo 2^64
  std::uint64_t xored = 0;  ///< exclusive or of the mixed keys
  friend bool operator==(const key_content&, const key_content&) = default;
};

template <bucket_key Key>
[[nodiscard]] key_content content_of(std::span<const Key> keys) noexcept {
  key_content content{keys.size()};
  for (const Key key : keys) {
    const std::uint64_t mixed = mix_bits(static_cast<std::uint64_t>(key));
    content.sum += mixed;
    content.xored ^= mixed;
  }
  return content;
}

/// What check_sorted found, the same on all ranks.
struct sort_faults {
  bool lost = false;          ///< fewer keys than before
  bool doubled = false;       ///< more keys than before
  bool changed = false;       ///< as many keys, but not the same
  bool order_within = false;  ///< two neighbours of one rank out of order
  bool order_across = false;  ///< a rank has a key below one of a rank before it
  std::string text;           ///< one line on all of them, "" if there is none
  [[nodiscard]] bool none() const noexcept { return text.empty(); }
};

namespace bucketing {

/// One rank's part in the check, in a form that can be compared between ranks.
struct sorted_part {
  key_content before, after;
  std::int64_t first = 0, last = 0;      ///< order-preserving images of the keys at its ends, if it has any
  std::uint64_t first_out_of_order = 0;  ///< position of the first key below the one before it; after.count if there is none
};

/// Collective.
[[nodiscard]] sort_faults check_parts(team& team, const sorted_part& mine);

/// An integer that compares as the key does among keys of its type.
template <bucket_key Key>
[[nodiscard]] std::int64_t ordered_image(Key key) noexcept {
  if constexpr (std::is_unsigned_v<Key> && sizeof(Key) == 8)
    return static_cast<std::int64_t>(key ^ (std::uint64_t{1} << 63));
  else
    return static_cast<std::int64_t>(key);
}
/// The key of an image.
template <bucket_key Key>
[[nodiscard]] Key key_of_image(std::int64_t image) noexcept {
  if constexpr (std::is_unsigned_v<Key> && sizeof(Key) == 8)
    return static_cast<Key>(image) ^ (std::uint64_t{1} << 63);
  else
    return static_cast<Key>(image);
}

}  // namespace bucketing

/// Collective. Whether `sorted`, over the ranks in their order, holds the keys whose content was `before` (of this rank) in
/// ascending order. Cost: two passes over the keys, one small allgather.
template <bucket_key Key>
[[nodiscard]] sort_faults check_sorted(team& team, const key_content& before, std::span<const Key> sorted) {
  bucketing::sorted_part mine{.before = before, .after = content_of(sorted)};
  if (!sorted.empty()) {
    const auto [least, most] = std::minmax_element(sorted.begin(), sorted.end());
    mine.first = bucketing::ordered_image(*least);
    mine.last = bucketing::ordered_image(*most);
  }
  mine.first_out_of_order = static_cast<std::uint64_t>(std::is_sorted_until(sorted.begin(), sorted.end()) - sorted.begin());
  return bucketing::check_parts(team, mine);
}

}  // namespace longshore
