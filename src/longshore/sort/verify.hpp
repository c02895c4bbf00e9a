// Checks the result of a distributed sort: the order within and across ranks, the number of items,
// their keys and payloads, and, for a stable sort, the order of items with equal keys.
#pragma once

#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/random.hpp>
#include <longshore/sort/detail/radix_key.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace longshore {

/// A checksum of items that does not depend on their order. A single lost, duplicated or changed
/// key always changes the checksum. Several such keys at once stay undetected with a probability of
/// some 2^-64.
struct key_checksum {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;    ///< the sum of mix_bits(radix key), modulo 2^64
  std::uint64_t xored = 0;  ///< the exclusive or of mix_bits(radix key)
  /// as `sum` and `xored`, of keys mixed with payloads
  std::uint64_t payload_sum = 0, payload_xored = 0;
  friend bool operator==(const key_checksum&, const key_checksum&) = default;
};

/// The default of payload_of and origin_of: all items have payload and origin 0.
struct no_payload {
  template <class Item>
  constexpr std::uint64_t operator()(const Item&) const noexcept {
    return 0;
  }
};

/// Local. The checksum of this rank's items. `payload_of(item)` returns a number that differs for
/// different payloads.
template <class Item, class Projection = item_is_key, class PayloadOf = no_payload>
[[nodiscard]] key_checksum checksum_of(std::span<const Item> items, Projection projection = {},
                                       PayloadOf payload_of = {}) {
  const detail::item_radix_key<Item, Projection> radix_key{projection};
  key_checksum checksum{items.size()};
  for (const Item& item : items) {
    const std::uint64_t mixed = mix_bits(radix_key(item));
    const std::uint64_t with_payload = mix_bits(mixed ^ payload_of(item));
    checksum.sum += mixed;
    checksum.xored ^= mixed;
    checksum.payload_sum += with_payload;
    checksum.payload_xored ^= with_payload;
  }
  return checksum;
}

/// The faults that check_sorted found, the same on all ranks.
struct sort_faults {
  bool lost = false;          ///< there are fewer keys than before
  bool doubled = false;       ///< there are more keys than before
  bool changed = false;       ///< there are as many keys, but not the same
  bool torn = false;          ///< the keys are the same, but have other payloads
  bool order_within = false;  ///< two neighbours of one rank are out of order
  bool order_across = false;  ///< a rank has a key below a key of an earlier rank
  bool unstable = false;      ///< two items with equal keys changed their order
  std::string text;           ///< describes all faults in one line; empty if there are none
  [[nodiscard]] bool none() const noexcept { return text.empty(); }
};

namespace detail {

/// A summary of one rank's part of the result.
struct sorted_part {
  key_checksum before, after;
  std::uint64_t first = 0, last = 0;                ///< the smallest and the largest radix key
  std::uint64_t first_origin = 0, last_origin = 0;  ///< the origins of the first and the last item
  /// the position of the first key that is below its predecessor; after.count if there is none
  std::uint64_t first_out_of_order = 0;
  /// the position of the first item whose predecessor has an equal key and a later origin;
  /// after.count if there is none
  std::uint64_t first_unstable = 0;
};

/// Collective. Compares the parts of all ranks.
[[nodiscard]] sort_faults check_parts(team& team, const sorted_part& part);

}  // namespace detail

/// Collective. Checks that the parts `sorted` of all ranks, in rank order, hold the original items
/// in ascending order. `before`: the checksum of the items that this rank had before the sort.
/// origin_of(item), for a stable sort: a number that ascends with the (rank, position) that the
/// item had before the sort. Cost: two passes over the items, one small allgather.
template <class Item, class Projection = item_is_key, class PayloadOf = no_payload,
          class OriginOf = no_payload>
[[nodiscard]] sort_faults check_sorted(team& team, const key_checksum& before,
                                       std::span<const Item> sorted, Projection projection = {},
                                       PayloadOf payload_of = {}, OriginOf origin_of = {}) {
  const detail::item_radix_key<Item, Projection> radix_key{projection};
  detail::sorted_part part{.before = before, .after = checksum_of(sorted, projection, payload_of)};
  part.first_out_of_order = part.first_unstable = sorted.size();
  for (std::size_t i = sorted.size(); i-- > 1;) {
    const auto earlier = radix_key(sorted[i - 1]), later = radix_key(sorted[i]);
    if (later < earlier) part.first_out_of_order = i;
    if (later == earlier && origin_of(sorted[i]) < origin_of(sorted[i - 1]))
      part.first_unstable = i;
  }
  if (!sorted.empty()) {
    part.first = part.last = radix_key(sorted[0]);
    part.first_origin = origin_of(sorted.front());
    part.last_origin = origin_of(sorted.back());
    for (const Item& item : sorted) {
      part.first = detail::smaller<std::uint64_t>(part.first, radix_key(item));
      part.last = detail::larger<std::uint64_t>(part.last, radix_key(item));
    }
  }
  return detail::check_parts(team, part);
}

}  // namespace longshore
