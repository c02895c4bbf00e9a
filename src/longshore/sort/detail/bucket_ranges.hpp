// The range of radix keys that each bucket holds. There is one bucket per rank, in rank order.
// Either all buckets are equally wide (as in ISx), or the buckets end at given splitters.
#pragma once

#include <longshore/core/detail/invariant_divisor.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/sort/detail/radix_key.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// Divides the radix keys in [lowest, highest] among buckets. Invariant: bucket b holds the radix
/// keys above last_keys_[b - 1], up to and including last_keys_[b].
template <class RadixKey>
class bucket_ranges {
 public:
  bucket_ranges() = default;

  /// Buckets of equal width. If the range is no multiple of the width, the last bucket that is not
  /// empty is narrower, and all later buckets are empty. REQUIRES: lowest <= highest, buckets >= 1.
  static bucket_ranges of_equal_width(RadixKey lowest, RadixKey highest, int buckets) {
    bucket_ranges ranges(lowest, highest);
    const std::uint64_t width_less_1 = ranges.span() / static_cast<std::uint64_t>(buckets);
    for (int bucket = 0; bucket + 1 < buckets; ++bucket) {
      const auto earlier = static_cast<std::uint64_t>(bucket);
      const bool beyond =
          width_less_1 == ~std::uint64_t{0} || earlier > ranges.span() / (width_less_1 + 1);
      const std::uint64_t begin = beyond ? ranges.span() : earlier * (width_less_1 + 1);
      ranges.last_keys_.push_back(
          static_cast<RadixKey>(lowest + (begin + smaller(width_less_1, ranges.span() - begin))));
    }
    // A single bucket may be 2^64 wide, which no divisor can hold.
    if (buckets > 1) ranges.width_ = invariant_divisor(width_less_1 + 1);
    ranges.can_divide_ = ranges.span() >> 63 == 0 && width_less_1 > 0;
    return ranges;
  }

  /// Makes `empty_buckets` buckets that hold nothing, one bucket up to and including each radix key
  /// in `last_keys`, and one bucket for the rest. REQUIRES: `last_keys` ascends.
  static bucket_ranges ending_at(RadixKey lowest, RadixKey highest, std::vector<RadixKey> last_keys,
                                 std::size_t empty_buckets) {
    bucket_ranges ranges(lowest, highest);
    ranges.last_keys_ = std::move(last_keys);
    ranges.empty_buckets_ = empty_buckets;
    return ranges;
  }

  [[nodiscard]] std::size_t buckets() const noexcept {
    return empty_buckets_ + last_keys_.size() + 1;
  }
  [[nodiscard]] RadixKey lowest() const noexcept { return lowest_; }
  [[nodiscard]] RadixKey highest() const noexcept { return highest_; }
  // A key below `lowest` has a distance above the span too, because unsigned numbers wrap around.
  [[nodiscard]] bool contains(RadixKey key) const noexcept {
    return distance(key) <= distance(highest_);
  }

  /// The position of the first item whose radix key no bucket holds; items.size() if there is none.
  template <class Item, class RadixKeyOf>
  [[nodiscard]] std::size_t first_outside(std::span<const Item> items,
                                          const RadixKeyOf& radix_key_of) const {
    const RadixKey span = distance(highest_);
    constexpr auto high_bit = static_cast<RadixKey>(RadixKey{1} << (8 * sizeof(RadixKey) - 1));
    bool outside = false;
    if (span < high_bit) {  // vectors of every processor can subtract, but not find a maximum
      RadixKey bits = 0;    // the highest is set if a distance is above the span
      for (const Item& item : items) {
        const RadixKey from_lowest = distance(radix_key_of(item));
        bits |= static_cast<RadixKey>(from_lowest | (span - from_lowest));
      }
      outside = (bits & high_bit) != 0;
    } else {
      RadixKey max_distance = 0;
      for (const Item& item : items)
        max_distance = larger(max_distance, distance(radix_key_of(item)));
      outside = max_distance > span;
    }
    if (!outside) return items.size();
    std::size_t first = 0;
    while (contains(radix_key_of(items[first]))) ++first;
    return first;
  }

  /// The radix keys that a bucket may hold. For an empty bucket, any single radix key.
  struct key_range {
    RadixKey lowest, highest;
  };
  [[nodiscard]] key_range range_of(std::size_t bucket) const noexcept {
    if (bucket < empty_buckets_) return {lowest_, lowest_};
    const std::size_t b = bucket - empty_buckets_;
    const RadixKey highest = b == last_keys_.size() ? highest_ : smaller(last_keys_[b], highest_);
    RadixKey lowest = lowest_;
    if (b > 0)
      lowest = last_keys_[b - 1] >= highest
                   ? highest
                   : larger<RadixKey>(lowest_, static_cast<RadixKey>(last_keys_[b - 1] + 1));
    return {lowest, larger(lowest, highest)};
  }

  /// Calls body(bucket_of) once. `bucket_of` is the cheapest function that returns the bucket of a
  /// radix key. REQUIRES: more than max_plain_buckets buckets.
  template <class Body>
  void with_bucket_of(const Body& body) const {
    if (can_divide_ && width_.is_power_of_two())
      body([lowest = lowest_, shift = width_.shift()](RadixKey key) {
        return static_cast<std::size_t>(static_cast<RadixKey>(key - lowest)) >> shift;
      });
    else if (can_divide_)
      body([lowest = lowest_, width = width_](RadixKey key) {
        return static_cast<std::size_t>(
            width.quotient_of_half_range(static_cast<RadixKey>(key - lowest)));
      });
    else
      body([last_keys = last_keys_.data(), count = last_keys_.size(), first = empty_buckets_](
               RadixKey key) { return first + search(last_keys, count, key); });
  }

  /// Whether with_part_of() can divide the buckets: there is one bucket, or all have the same
  /// width.
  [[nodiscard]] bool can_be_divided() const noexcept {
    return buckets() == 1 || (can_divide_ && empty_buckets_ == 0);
  }
  /// The number of bits of (radix key - lowest radix key of the bucket). REQUIRES:
  /// can_be_divided().
  [[nodiscard]] int bits_of_bucket() const noexcept {
    return static_cast<int>(std::bit_width(buckets() == 1 ? span() : width_.divisor() - 1));
  }
  /// Calls `body` once, with a function part_of. part_of(radix key) returns the bucket and the part
  /// in one number: bucket * 2^part_bits + part. The part is the highest `part_bits` of the
  /// bits_of_bucket() bits. REQUIRES: can_be_divided(), part_bits <= bits_of_bucket().
  template <class Body>
  void with_part_of(int part_bits, const Body& body) const {
    const int shift = bits_of_bucket() - part_bits;
    if (buckets() == 1 || width_.is_power_of_two())
      body([lowest = lowest_, shift](RadixKey key) {
        return static_cast<std::size_t>(static_cast<RadixKey>(key - lowest)) >> shift;
      });
    else
      body([lowest = lowest_, width = width_, shift, part_bits](RadixKey key) {
        const std::uint64_t distance = static_cast<RadixKey>(key - lowest),
                            bucket = width.quotient_of_half_range(distance);
        return static_cast<std::size_t>((bucket << part_bits) +
                                        ((distance - bucket * width.divisor()) >> shift));
      });
  }

  /// The last radix key of each bucket. The first empty_buckets() buckets and the last bucket are
  /// left out.
  [[nodiscard]] std::span<const RadixKey> last_keys() const noexcept { return last_keys_; }
  /// The number of first buckets that hold nothing.
  [[nodiscard]] std::size_t empty_buckets() const noexcept { return empty_buckets_; }

 private:
  bucket_ranges(RadixKey lowest, RadixKey highest) : lowest_(lowest), highest_(highest) {}
  [[nodiscard]] std::uint64_t span() const noexcept {
    return static_cast<RadixKey>(highest_ - lowest_);
  }
  [[nodiscard]] RadixKey distance(RadixKey key) const noexcept {
    return static_cast<RadixKey>(key - lowest_);
  }

  // How many of `count` ascending last keys are below `key`. The loop has no branch that depends on
  // the key.
  static std::size_t search(const RadixKey* last_keys, std::size_t count, RadixKey key) noexcept {
    const RadixKey* begin = last_keys;
    for (std::size_t n = count; n > 1;) {
      const std::size_t half = n / 2;
      begin += begin[half - 1] < key ? half : 0;
      n -= half;
    }
    return static_cast<std::size_t>(begin - last_keys) + (count > 0 && *begin < key ? 1 : 0);
  }

  RadixKey lowest_ = 0, highest_ = 0;
  std::vector<RadixKey> last_keys_;
  std::size_t empty_buckets_ = 0;
  invariant_divisor width_;
  // Whether a distance divided by width_ is the bucket. The ranges must be equally wide, and
  // quotient_of_half_range requires distances below 2^63 and a width above 1.
  bool can_divide_ = false;
};

/// The bucket ranges for one section of a rank's items. The section begins where the section before
/// ends, and ends at position `end`, which is a splitter or the end of the items. Equal keys before
/// and after a splitter go to different buckets (splitters.hpp).
template <class RadixKey>
struct section_ranges {
  std::size_t end;
  bucket_ranges<RadixKey> ranges;
};

}  // namespace longshore::detail
