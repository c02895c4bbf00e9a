// Block distribution: each rank has one contiguous part of the array. If the number of ranks does
// not divide the size, each of the first ranks has one element more.
#pragma once

#include <longshore/array/distribution.hpp>
#include <longshore/core/detail/invariant_divisor.hpp>
#include <longshore/core/detail/min_max.hpp>

#include <concepts>

namespace longshore {

struct block {
  static constexpr std::string_view name = "block";

  class map {
   public:
    constexpr map(block, std::uint64_t size, int ranks) noexcept
        : size_(size),
          ranks_(ranks),
          short_items_(size / static_cast<std::uint64_t>(ranks)),
          long_ranks_(size % static_cast<std::uint64_t>(ranks)),
          long_end_(long_ranks_ * (short_items_ + 1)),
          by_long_items_(short_items_ + 1),
          // If short parts are empty, no index lies in them, and any divisor will do.
          by_short_items_(detail::larger<std::uint64_t>(short_items_, 1)) {}

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr int ranks() const noexcept { return ranks_; }
    [[nodiscard]] constexpr std::uint64_t local_size(int rank) const noexcept {
      return short_items_ + (static_cast<std::uint64_t>(rank) < long_ranks_ ? 1 : 0);
    }
    [[nodiscard]] constexpr std::uint64_t largest_local_size() const noexcept {
      return local_size(0);
    }

    [[nodiscard]] constexpr location owner_offset(std::uint64_t index) const noexcept {
      // After the long parts, subtract their extra elements: then all parts count as short.
      const bool is_in_long_part = index < long_end_;
      const std::uint64_t i = is_in_long_part ? index : index - long_ranks_;
      const std::uint64_t rank = (is_in_long_part ? by_long_items_ : by_short_items_).quotient(i);
      return {static_cast<int>(rank),
              i - rank * (is_in_long_part ? short_items_ + 1 : short_items_)};
    }
    [[nodiscard]] constexpr std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      return first_index(rank) + offset;
    }
    /// Global index of the first element of a rank's part.
    [[nodiscard]] constexpr std::uint64_t first_index(int rank) const noexcept {
      const auto r = static_cast<std::uint64_t>(rank);
      return r * short_items_ + detail::smaller(r, long_ranks_);
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
      invariant_divisor part_items;
      constexpr location operator()(std::uint64_t index) const noexcept {
        const std::uint64_t rank = part_items.quotient_of_half_range(index);
        return {static_cast<int>(rank), index - rank * part_items.divisor()};
      }
    };
    /// The map is the locator for parts of two sizes.
    constexpr location operator()(std::uint64_t index) const noexcept {
      return owner_offset(index);
    }

    /// Calls body(locate) once, with the cheapest locator.
    template <class Body>
    constexpr decltype(auto) with_locator(Body&& body) const {
      // With one rank, a shift by 63 bits makes every index 0, which is the rank.
      if (ranks_ == 1 || size_ == 0) return body(shift_locator{63, ~std::uint64_t{0} >> 1});
      if (long_ranks_ == 0 && by_short_items_.is_power_of_two())
        return body(shift_locator{by_short_items_.shift(), short_items_ - 1});
      if (long_ranks_ == 0) return body(even_locator{by_short_items_});
      return body(*this);
    }

    friend constexpr bool operator==(const map& a, const map& b) noexcept {
      return a.size_ == b.size_ && a.ranks_ == b.ranks_;
    }

   private:
    std::uint64_t size_;
    int ranks_;
    std::uint64_t short_items_;  // elements of a short part
    std::uint64_t long_ranks_;  // number of first ranks, whose parts have short_items_ + 1 elements
    std::uint64_t long_end_;    // index of the first element after the long parts
    invariant_divisor by_long_items_, by_short_items_;
  };

  /// Whether Locator is a locator of block. Then consecutive indices on one rank have consecutive
  /// offsets.
  template <class Locator>
  static constexpr bool is_located_by =
      std::same_as<Locator, map::shift_locator> || std::same_as<Locator, map::even_locator> ||
      std::same_as<Locator, map>;
};

}  // namespace longshore
