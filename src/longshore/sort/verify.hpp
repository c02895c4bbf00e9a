// Whether a distributed sort did what it should: order within and across ranks, the number of
// items, that they are the same keys with what belonged to them, and, of a stable sort, that items
// of one key kept their order.
#pragma once

#include <longshore/core/random.hpp>
#include <longshore/sort/detail/key_image.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace longshore {

/// What is left of items when their order is forgotten. A key lost, doubled or changed changes
/// `count`, or `sum` and `xored` with certainty; several at once go unseen with a chance of some
/// 2^-64.
struct key_content {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;                             ///< of the mixed keys, modulo 2^64
  std::uint64_t xored = 0;                           ///< exclusive or of the mixed keys
  std::uint64_t payload_sum = 0, payload_xored = 0;  ///< the same of key and payload mixed together
  friend bool operator==(const key_content&, const key_content&) = default;
};

/// An item without payload.
struct no_payload {
  template <class Item>
  constexpr std::uint64_t operator()(const Item&) const noexcept {
    return 0;
  }
};

/// `payload_of(item)`: any number that tells payloads apart.
template <class Item, class Projection = std::identity, class PayloadOf = no_payload>
[[nodiscard]] key_content content_of(std::span<const Item> items, Projection projection = {},
                                     PayloadOf payload_of = {}) {
  const detail::item_image<Item, Projection> image{projection};
  key_content content{items.size()};
  for (const Item& item : items) {
    const std::uint64_t mixed = mix_bits(image(item)), joined = mix_bits(mixed ^ payload_of(item));
    content.sum += mixed;
    content.xored ^= mixed;
    content.payload_sum += joined;
    content.payload_xored ^= joined;
  }
  return content;
}

/// What check_sorted found, the same on all ranks.
struct sort_faults {
  bool lost = false;          ///< fewer keys than before
  bool doubled = false;       ///< more keys than before
  bool changed = false;       ///< as many keys, but not the same
  bool torn = false;          ///< the same keys, but not with the same payloads
  bool order_within = false;  ///< two neighbours of one rank out of order
  bool order_across = false;  ///< a rank has a key below one of a rank before it
  bool unstable = false;      ///< two items of one key changed places
  std::string text;           ///< one line on all of them, "" if there is none
  [[nodiscard]] bool none() const noexcept { return text.empty(); }
};

namespace detail {

/// One rank's part in the check, in a form that can be compared between ranks.
struct sorted_part {
  key_content before, after;
  /// images of the keys at its ends, if it has any
  std::uint64_t first = 0, last = 0;
  std::uint64_t first_origin = 0, last_origin = 0;  ///< where these items came from
  /// position of the first key below the one before it; after.count if there is none
  std::uint64_t first_out_of_order = 0;
  std::uint64_t first_unstable = 0;  ///< the same of items of one key
};

/// Collective.
[[nodiscard]] sort_faults check_parts(team& team, const sorted_part& mine);

}  // namespace detail

/// Collective. Whether `sorted`, over the ranks in their order, holds the items whose content was
/// `before` (of this rank) in ascending order. `origin_of(item)`: for a stable sort, a number that
/// ascends with rank and place before. Cost: two passes over the items, one small allgather.
template <class Item, class Projection = std::identity, class PayloadOf = no_payload,
          class OriginOf = no_payload>
[[nodiscard]] sort_faults check_sorted(team& team, const key_content& before,
                                       std::span<const Item> sorted, Projection projection = {},
                                       PayloadOf payload_of = {}, OriginOf origin_of = {}) {
  const detail::item_image<Item, Projection> image{projection};
  detail::sorted_part mine{.before = before, .after = content_of(sorted, projection, payload_of)};
  mine.first_out_of_order = mine.first_unstable = sorted.size();
  for (std::size_t i = sorted.size(); i-- > 1;) {
    const auto earlier = image(sorted[i - 1]), later = image(sorted[i]);
    if (later < earlier) mine.first_out_of_order = i;
    if (later == earlier && origin_of(sorted[i]) < origin_of(sorted[i - 1]))
      mine.first_unstable = i;
  }
  if (!sorted.empty()) {
    mine.first = mine.last = image(sorted[0]);
    mine.first_origin = origin_of(sorted.front());
    mine.last_origin = origin_of(sorted.back());
    for (const Item& item : sorted) {
      mine.first = std::min<std::uint64_t>(mine.first, image(item));
      mine.last = std::max<std::uint64_t>(mine.last, image(item));
    }
  }
  return detail::check_parts(team, mine);
}

}  // namespace longshore
