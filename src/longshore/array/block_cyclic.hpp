// Block-cyclic distribution: the ranks get blocks of b elements in turn, and a rank stores its
// blocks contiguously.
#pragma once

#include <longshore/array/distribution.hpp>
#include <longshore/core/invariant_divisor.hpp>

#include <algorithm>

namespace longshore {

struct block_cyclic {
  static constexpr std::string_view name = "block-cyclic";
  std::uint64_t block_items = 1;  ///< elements per block, at least 1

  class map {
   public:
    /// REQUIRES: distribution.block_items >= 1.
    constexpr map(block_cyclic distribution, std::uint64_t size, int ranks) noexcept
        : size_(size),
          items_(distribution.block_items),
          ranks_(static_cast<std::uint64_t>(ranks)) {}

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr int ranks() const noexcept {
      return static_cast<int>(ranks_.divisor());
    }
    [[nodiscard]] constexpr std::uint64_t block_items() const noexcept { return items_.divisor(); }
    [[nodiscard]] constexpr std::uint64_t local_size(int rank) const noexcept {
      const std::uint64_t whole = items_.quotient(size_), rounds = ranks_.quotient(whole);
      // the rank that would get the next block, and gets the incomplete one
      const std::uint64_t last = whole - rounds * ranks_.divisor();
      const auto r = static_cast<std::uint64_t>(rank);
      const std::uint64_t blocks = rounds + (r < last ? 1 : 0);
      return blocks * items_.divisor() + (r == last ? size_ - whole * items_.divisor() : 0);
    }
    [[nodiscard]] constexpr std::uint64_t largest_local_size() const noexcept {
      return local_size(0);
    }

    [[nodiscard]] constexpr location owner_offset(std::uint64_t index) const noexcept {
      const std::uint64_t number = items_.quotient(index), round = ranks_.quotient(number);
      return {static_cast<int>(number - round * ranks_.divisor()),
              round * items_.divisor() + (index - number * items_.divisor())};
    }
    [[nodiscard]] constexpr std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      const std::uint64_t round = items_.quotient(offset),
                          inside = offset - round * items_.divisor();
      return (round * ranks_.divisor() + static_cast<std::uint64_t>(rank)) * items_.divisor() +
             inside;
    }

    /// Locator for 2^k ranks and blocks of 2^m elements.
    struct shift_locator {
      int item_shift, rank_shift;
      std::uint64_t item_mask, rank_mask;
      constexpr location operator()(std::uint64_t index) const noexcept {
        const std::uint64_t number = index >> item_shift;
        return {static_cast<int>(number & rank_mask),
                ((number >> rank_shift) << item_shift) | (index & item_mask)};
      }
    };
    /// Locator for all other cases: the map itself.
    constexpr location operator()(std::uint64_t index) const noexcept {
      return owner_offset(index);
    }

    /// Calls body(locate) once, with the cheapest locator. Both locators agree with owner_offset.
    template <class Body>
    constexpr decltype(auto) with_locator(Body&& body) const {
      if (items_.is_power_of_two() && ranks_.is_power_of_two())
        return body(shift_locator{items_.shift(), ranks_.shift(), items_.divisor() - 1,
                                  ranks_.divisor() - 1});
      return body(*this);
    }

    friend constexpr bool operator==(const map& a, const map& b) noexcept {
      return a.size_ == b.size_ && a.block_items() == b.block_items() && a.ranks() == b.ranks();
    }

   private:
    std::uint64_t size_;
    invariant_divisor items_, ranks_;
  };
};

static_assert(distribution<block_cyclic>);

}  // namespace longshore
