// Block distribution: each rank has one contiguous part of the array. If the size is not divisible,
// each of the first ranks has one element more.
#pragma once

#include <longshore/array/distribution.hpp>
#include <longshore/core/invariant_divisor.hpp>

#include <algorithm>
#include <concepts>

namespace longshore {

struct block {
  static constexpr std::string_view name = "block";

  class map {
   public:
    constexpr map(block, std::uint64_t size, int ranks) noexcept
        : size_(size),
          ranks_(ranks),
          short_(size / static_cast<std::uint64_t>(ranks)),
          long_ranks_(size % static_cast<std::uint64_t>(ranks)),
          long_end_(long_ranks_ * (short_ + 1)),
          by_long_(short_ + 1),
          by_short_(std::max<std::uint64_t>(short_, 1)) {}

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr int ranks() const noexcept { return ranks_; }
    [[nodiscard]] constexpr std::uint64_t local_size(int rank) const noexcept {
      return short_ + (static_cast<std::uint64_t>(rank) < long_ranks_ ? 1 : 0);
    }
    [[nodiscard]] constexpr std::uint64_t largest_local_size() const noexcept {
      return local_size(0);
    }

    [[nodiscard]] constexpr location owner_offset(std::uint64_t index) const noexcept {
      // The first long_ranks_ parts have one element more. Without these extra elements, all parts
      // would be short.
      const bool in_long = index < long_end_;
      const std::uint64_t i = in_long ? index : index - long_ranks_;
      const std::uint64_t rank = (in_long ? by_long_ : by_short_).quotient(i);
      return {static_cast<int>(rank), i - rank * (in_long ? short_ + 1 : short_)};
    }
    [[nodiscard]] constexpr std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      return first_index(rank) + offset;
    }
    /// Global index of the first element of a rank's part.
    [[nodiscard]] constexpr std::uint64_t first_index(int rank) const noexcept {
      const auto r = static_cast<std::uint64_t>(rank);
      return r * short_ + std::min(r, long_ranks_);
    }

    /// Locator for equal parts of 2^k elements.
    struct shift_locator {
      int shift;
      std::uint64_t mask;
      constexpr location operator()(std::uint64_t index) const noexcept {
        return {static_cast<int>(index >> shift), index & mask};
      }
    };
    /// Locator for equal parts.
    struct even_locator {
      invariant_divisor piece;
      constexpr location operator()(std::uint64_t index) const noexcept {
        const std::uint64_t rank = piece.quotient_of_half_range(index);
        return {static_cast<int>(rank), index - rank * piece.divisor()};
      }
    };
    /// Locator for parts of two sizes: the map itself.
    constexpr location operator()(std::uint64_t index) const noexcept {
      return owner_offset(index);
    }

    /// Calls body(locate) once, with the cheapest locator. All locators agree with owner_offset.
    template <class Body>
    constexpr decltype(auto) with_locator(Body&& body) const {
      // With one rank, any shift that makes every index 0 gives rank 0.
      if (ranks_ == 1 || size_ == 0) return body(shift_locator{63, ~std::uint64_t{0} >> 1});
      if (long_ranks_ == 0 && by_short_.is_power_of_two())
        return body(shift_locator{by_short_.shift(), short_ - 1});
      if (long_ranks_ == 0) return body(even_locator{by_short_});
      return body(*this);
    }

    friend constexpr bool operator==(const map& a, const map& b) noexcept {
      return a.size_ == b.size_ && a.ranks_ == b.ranks_;
    }

   private:
    std::uint64_t size_;
    int ranks_;
    std::uint64_t short_;       // elements of each rank after the first long_ranks_
    std::uint64_t long_ranks_;  // number of first ranks that have short_ + 1 elements
    std::uint64_t long_end_;    // index of the first element after their parts
    invariant_divisor by_long_, by_short_;
  };

  /// Whether Locator belongs to this distribution. Then consecutive indices of one rank have
  /// consecutive offsets.
  template <class Locator>
  static constexpr bool is_located_by =
      std::same_as<Locator, map::shift_locator> || std::same_as<Locator, map::even_locator> ||
      std::same_as<Locator, map>;
};

static_assert(distribution<block>);

}  // namespace longshore
