// How the range of keys is cut into buckets, one per rank, in rank order: of one width (as in ISx),
// or at given places.
#pragma once

#include <longshore/core/invariant_divisor.hpp>
#include <longshore/sort/detail/key_image.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// A cut of the images in [lowest, highest]. Invariant: bucket b holds the images above last_[b -
/// 1] and not above last_[b].
template <class Image>
class bucket_cut {
 public:
  bucket_cut() = default;

  /// Buckets of one width. Where they cannot be equal the last that has one may be narrower, and
  /// those behind it get nothing. REQUIRES: lowest <= highest, buckets >= 1.
  static bucket_cut of_equal_width(Image lowest, Image highest, int buckets) {
    bucket_cut cut(lowest, highest);
    const std::uint64_t width_less_1 = cut.span() / static_cast<std::uint64_t>(buckets);
    for (int bucket = 0; bucket + 1 < buckets; ++bucket) {
      const auto earlier = static_cast<std::uint64_t>(bucket);
      const bool beyond =
          width_less_1 == ~std::uint64_t{0} || earlier > cut.span() / (width_less_1 + 1);
      const std::uint64_t begin = beyond ? cut.span() : earlier * (width_less_1 + 1);
      cut.last_.push_back(
          static_cast<Image>(lowest + (begin + std::min(width_less_1, cut.span() - begin))));
    }
    // one bucket may be wider than any number
    if (buckets > 1) cut.width_ = invariant_divisor(width_less_1 + 1);
    cut.is_equal_ = cut.span() >> 63 == 0 && width_less_1 > 0;
    return cut;
  }

  /// Buckets that end with these images, ascending, one less than there are buckets; before them
  /// `empty` buckets that get nothing.
  static bucket_cut at(Image lowest, Image highest, std::vector<Image> last, std::size_t empty) {
    bucket_cut cut(lowest, highest);
    cut.last_ = std::move(last);
    cut.empty_ = empty;
    return cut;
  }

  [[nodiscard]] std::size_t buckets() const noexcept { return empty_ + last_.size() + 1; }
  [[nodiscard]] Image lowest() const noexcept { return lowest_; }
  [[nodiscard]] Image highest() const noexcept { return highest_; }
  [[nodiscard]] bool contains(Image image) const noexcept {
    return distance(image) <= static_cast<Image>(highest_ - lowest_);
  }

  /// The images that a bucket may hold; where there can be none, any one image.
  struct range {
    Image lowest, highest;
  };
  [[nodiscard]] range range_of(std::size_t bucket) const noexcept {
    if (bucket < empty_) return {lowest_, lowest_};
    const std::size_t b = bucket - empty_;
    const Image highest = b == last_.size() ? highest_ : std::min(last_[b], highest_);
    Image lowest = lowest_;
    if (b > 0)
      lowest = last_[b - 1] >= highest
                   ? highest
                   : std::max<Image>(lowest_, static_cast<Image>(last_[b - 1] + 1));
    return {lowest, std::max(lowest, highest)};
  }

  /// Calls body(bucket_of) with the cheapest function from an image to its bucket, once. REQUIRES:
  /// more than 4 buckets (fewer are found by comparing with all ends).
  template <class Body>
  void with_bucket_of(const Body& body) const {
    if (is_equal_ && width_.is_power_of_two())
      body([lowest = lowest_, shift = width_.shift()](Image image) {
        return static_cast<std::size_t>(static_cast<Image>(image - lowest)) >> shift;
      });
    else if (is_equal_)
      body([lowest = lowest_, width = width_](Image image) {
        return static_cast<std::size_t>(
            width.quotient_of_half_range(static_cast<Image>(image - lowest)));
      });
    else
      body([last = last_.data(), count = last_.size(), empty = empty_](Image image) {
        return empty + search(last, count, image);
      });
  }

  /// Ends of all buckets but the last; those of the `empty` first are left out.
  [[nodiscard]] std::span<const Image> ends() const noexcept { return last_; }
  [[nodiscard]] std::size_t empty() const noexcept { return empty_; }

 private:
  bucket_cut(Image lowest, Image highest) : lowest_(lowest), highest_(highest) {}
  [[nodiscard]] std::uint64_t span() const noexcept {
    return static_cast<Image>(highest_ - lowest_);
  }
  [[nodiscard]] Image distance(Image image) const noexcept {
    return static_cast<Image>(image - lowest_);
  }

  // How many of `count` ascending ends are below `image`; without a branch that depends on it.
  static std::size_t search(const Image* last, std::size_t count, Image image) noexcept {
    const Image* from = last;
    for (std::size_t n = count; n > 1;) {
      const std::size_t half = n / 2;
      from += from[half - 1] < image ? half : 0;
      n -= half;
    }
    return static_cast<std::size_t>(from - last) + (count > 0 && *from < image ? 1 : 0);
  }

  Image lowest_ = 0, highest_ = 0;
  std::vector<Image> last_;
  std::size_t empty_ = 0;
  invariant_divisor width_;
  bool is_equal_ = false;
};

/// A cut that holds for the items of one rank up to position `end`. (Where the place of an item
/// decides among equal keys, it changes from there on: splitters.hpp.)
template <class Image>
struct cut_stretch {
  std::size_t end;
  bucket_cut<Image> cut;
};

}  // namespace longshore::detail
