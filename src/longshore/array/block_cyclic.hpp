// Block-cyclic distribution: the ranks get blocks of b elements in turn, and a rank stores its
// blocks contiguously.
#pragma once

#include <longshore/array/distribution.hpp>
#include <longshore/core/detail/invariant_divisor.hpp>

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
      const std::uint64_t complete = items_.quotient(size_), cycles = ranks_.quotient(complete);
      // Ranks before `next` have one complete block more. Rank `next` has the incomplete block.
      const std::uint64_t next = complete - cycles * ranks_.divisor();
      const auto r = static_cast<std::uint64_t>(rank);
      const std::uint64_t blocks = cycles + (r < next ? 1 : 0);
      return blocks * items_.divisor() + (r == next ? size_ - complete * items_.divisor() : 0);
    }
    [[nodiscard]] constexpr std::uint64_t largest_local_size() const noexcept {
      return local_size(0);
    }

    [[nodiscard]] constexpr location owner_offset(std::uint64_t index) const noexcept {
      const std::uint64_t block = items_.quotient(index), cycle = ranks_.quotient(block);
      return {static_cast<int>(block - cycle * ranks_.divisor()),
              cycle * items_.divisor() + (index - block * items_.divisor())};
    }
    [[nodiscard]] constexpr std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      const std::uint64_t cycle = items_.quotient(offset),
                          inside = offset - cycle * items_.divisor();
      return (cycle * ranks_.divisor() + static_cast<std::uint64_t>(rank)) * items_.divisor() +
             inside;
    }

    /// Locator for 2^k ranks and blocks of 2^m elements.
    struct shift_locator {
      int item_shift, rank_shift;
      std::uint64_t item_mask, rank_mask;
      constexpr location operator()(std::uint64_t index) const noexcept {
        const std::uint64_t block = index >> item_shift;
        return {static_cast<int>(block & rank_mask),
                ((block >> rank_shift) << item_shift) | (index & item_mask)};
      }
    };
    /// The map is the locator for all other cases.
    constexpr location operator()(std::uint64_t index) const noexcept {
      return owner_offset(index);
    }

    /// Calls body(locate) once, with the cheapest locator.
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
    invariant_divisor items_, ranks_;  // items_: elements per block
  };
};

}  // namespace longshore
