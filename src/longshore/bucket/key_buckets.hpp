// Which bucket a key belongs to: buckets of one width over the range of keys, one per rank, in rank order (as in ISx).
#pragma once

#include <longshore/array/invariant_divisor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace longshore {

/// Types that can be sorted by bucket.
template <class Key>
concept bucket_key = std::integral<Key> && !std::same_as<std::remove_cv_t<Key>, bool>;

namespace bucketing {

/// The buckets of keys in [lowest, highest]. Keys are compared by their distance from `lowest`, which needs no sign.
template <bucket_key Key>
class key_buckets {
 public:
  using distance = std::make_unsigned_t<Key>;

  key_buckets() = default;
  /// REQUIRES: lowest <= highest, buckets >= 1.
  key_buckets(Key lowest, Key highest, int buckets)
      : lowest_(lowest),
        span_(distance_of(highest)),
        buckets_(buckets),
        last_in_bucket_(static_cast<std::uint64_t>(span_) / static_cast<std::uint64_t>(buckets)),
        width_(buckets == 1 ? 1 : last_in_bucket_ + 1) {}  // one bucket may be wider than any number, and needs no division

  [[nodiscard]] Key lowest() const noexcept { return lowest_; }
  [[nodiscard]] int buckets() const noexcept { return buckets_; }
  [[nodiscard]] distance distance_of(Key key) const noexcept {
    return static_cast<distance>(static_cast<distance>(key) - static_cast<distance>(lowest_));
  }
  [[nodiscard]] bool contains(Key key) const noexcept { return distance_of(key) <= span_; }

  /// The range of a bucket: its first key, and the distance from there to its last. All are of one width; the last that has
  /// one may be narrower, and those behind it, which get no keys, name the highest key.
  struct range {
    Key first;
    std::uint64_t span;
  };
  [[nodiscard]] range range_of(int bucket) const noexcept {
    const std::uint64_t begin = first_distance(bucket);
    return {static_cast<Key>(static_cast<distance>(lowest_) + static_cast<distance>(begin)),
            std::min<std::uint64_t>(last_in_bucket_, span_ - begin)};
  }

  /// Calls body(bucket_of) with the cheapest function from a contained key to its bucket, once.
  template <class Body>
  decltype(auto) with_bucket_of(Body&& body) const {
    if (buckets_ == 1) return body([](Key) { return std::uint32_t{0}; });
    if (width_.is_power_of_two())
      return body([self = *this, shift = width_.shift()](Key key) {
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(self.distance_of(key)) >> shift);
      });
    if (sizeof(Key) < 8 || span_ >> (8 * sizeof(Key) - 1) == 0)
      return body([self = *this](Key key) {
        return static_cast<std::uint32_t>(self.width_.quotient_of_half_range(self.distance_of(key)));
      });
    return body([self = *this](Key key) { return static_cast<std::uint32_t>(self.width_.quotient(self.distance_of(key))); });
  }

  /// counts[bucket] = keys of it. Returns the position of the first key that is not contained, or keys.size(); then counts are
  /// not valid.
  [[nodiscard]] std::size_t count(std::span<const Key> keys, std::span<std::size_t> counts) const {
    std::fill(counts.begin(), counts.end(), std::size_t{0});
    for (std::size_t begin = 0; begin < keys.size(); begin += chunk_items) {
      const auto chunk = keys.subspan(begin, std::min(chunk_items, keys.size() - begin));
      distance farthest = 0;
      for (const Key key : chunk) farthest = std::max(farthest, distance_of(key));
      if (farthest > span_)
        return begin + static_cast<std::size_t>(
                           std::find_if(chunk.begin(), chunk.end(), [&](Key key) { return !contains(key); }) - chunk.begin());
      if (buckets_ <= most_compared)
        count_by_comparing(chunk, counts);
      else
        with_bucket_of([&](auto bucket_of) {
          for (const Key key : chunk) ++counts[bucket_of(key)];
        });
    }
    return keys.size();
  }

 private:
  static constexpr std::size_t chunk_items = 4096;
  // Up to so many buckets it is quicker to compare every key with every boundary, many at a time, than to raise a counter in
  // memory.
  static constexpr int most_compared = 8;

  [[nodiscard]] std::uint64_t first_distance(int bucket) const noexcept {
    const std::uint64_t width = width_.divisor();
    return static_cast<std::uint64_t>(bucket) > span_ / width ? std::uint64_t{span_} : width * static_cast<std::uint64_t>(bucket);
  }

  void count_by_comparing(std::span<const Key> chunk, std::span<std::size_t> counts) const noexcept {
    std::size_t below = 0;  // keys of the buckets so far
    for (int bucket = 0; bucket < buckets_; ++bucket) {
      const std::uint64_t first = first_distance(bucket), last = first + std::min<std::uint64_t>(last_in_bucket_, span_ - first);
      std::size_t up_to = chunk.size();
      if (last < span_) {
        std::conditional_t<sizeof(Key) == 8, std::uint64_t, std::uint32_t> not_above = 0;
        for (const Key key : chunk) not_above += distance_of(key) <= static_cast<distance>(last) ? 1 : 0;
        up_to = not_above;
      }
      counts[bucket] += up_to - below;
      below = up_to;
    }
  }

  Key lowest_ = 0;
  distance span_ = 0;
  int buckets_ = 1;
  std::uint64_t last_in_bucket_ = 0;  // width - 1
  invariant_divisor width_;
};

}  // namespace bucketing
}  // namespace longshore
