// Cyclic distribution over P ranks: element i lies on rank i mod P, at offset i div P.
#pragma once

#include <longshore/array/distribution.hpp>
#include <longshore/core/detail/invariant_divisor.hpp>

namespace longshore {

struct cyclic {
  static constexpr std::string_view name = "cyclic";

  class map {
   public:
    constexpr map(cyclic, std::uint64_t size, int ranks) noexcept
        : size_(size), ranks_(static_cast<std::uint64_t>(ranks)) {}

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr int ranks() const noexcept {
      return static_cast<int>(ranks_.divisor());
    }
    [[nodiscard]] constexpr std::uint64_t local_size(int rank) const noexcept {
      const std::uint64_t cycles = ranks_.quotient(size_);
      return cycles +
             (static_cast<std::uint64_t>(rank) < size_ - cycles * ranks_.divisor() ? 1 : 0);
    }
    [[nodiscard]] constexpr std::uint64_t largest_local_size() const noexcept {
      return local_size(0);
    }

    [[nodiscard]] constexpr location owner_offset(std::uint64_t index) const noexcept {
      const std::uint64_t offset = ranks_.quotient(index);
      return {static_cast<int>(index - offset * ranks_.divisor()), offset};
    }
    [[nodiscard]] constexpr std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      return offset * ranks_.divisor() + static_cast<std::uint64_t>(rank);
    }

    /// Locator for 2^k ranks.
    struct shift_locator {
      int shift;
      std::uint64_t mask;
      constexpr location operator()(std::uint64_t index) const noexcept {
        return {static_cast<int>(index & mask), index >> shift};
      }
    };
    /// Locator for any other number of ranks.
    struct divide_locator {
      invariant_divisor ranks;
      constexpr location operator()(std::uint64_t index) const noexcept {
        const std::uint64_t offset = ranks.quotient_of_half_range(index);
        return {static_cast<int>(index - offset * ranks.divisor()), offset};
      }
    };

    /// Calls body(locate) once, with the cheapest locator.
    template <class Body>
    constexpr decltype(auto) with_locator(Body&& body) const {
      if (ranks_.is_power_of_two())
        return body(shift_locator{ranks_.shift(), ranks_.divisor() - 1});
      return body(divide_locator{ranks_});
    }

    friend constexpr bool operator==(const map& a, const map& b) noexcept {
      return a.size_ == b.size_ && a.ranks() == b.ranks();
    }

   private:
    std::uint64_t size_;
    invariant_divisor ranks_;
  };
};

}  // namespace longshore
