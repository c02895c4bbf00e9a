// Division by a number that is constant in a loop: one multiplication and shifts replace each
// division. The quotient is exact for every 64-bit dividend. Source: T. Granlund, P. L. Montgomery,
// "Division by invariant integers using multiplication", PLDI 1994, figure 4.1.
#pragma once

#include <longshore/core/detail/requirements.hpp>

#include <bit>
#include <cassert>
#include <cstdint>

namespace longshore {

/// A divisor d >= 1 with precomputed multipliers. Loops can hold a copy of these 32 bytes.
class invariant_divisor {
 public:
  constexpr invariant_divisor() noexcept : invariant_divisor(1) {}

  /// REQUIRES: divisor >= 1.
  constexpr explicit invariant_divisor(std::uint64_t divisor) noexcept : divisor_(divisor) {
    assert(divisor >= 1);
    // l, the smallest number with 2^l >= d
    const int bits = static_cast<int>(std::bit_width(divisor - 1));
    // floor(2^64 (2^l - d) / d) + 1. If l is 64, 2^l - d is computed modulo 2^64.
    const std::uint64_t excess = (bits == 64 ? 0 : std::uint64_t{1} << bits) - divisor;
    multiplier_ = static_cast<std::uint64_t>((static_cast<uint128>(excess) << 64) / divisor) + 1;
    first_shift_ = bits < 1 ? 0 : 1;
    last_shift_ = bits < 1 ? 0 : bits - 1;
    // Dividends below 2^63 need one bit less: the multiplier ceil(2^(63 + l) / d) fits into 64
    // bits.
    if (divisor > 1)
      half_multiplier_ =
          static_cast<std::uint64_t>(((uint128{1} << (63 + bits)) + divisor - 1) / divisor);
  }

  [[nodiscard]] constexpr std::uint64_t divisor() const noexcept { return divisor_; }
  [[nodiscard]] constexpr bool is_power_of_two() const noexcept {
    return std::has_single_bit(divisor_);
  }
  /// REQUIRES: is_power_of_two(). Then n / d is n >> shift().
  [[nodiscard]] constexpr int shift() const noexcept { return std::countr_zero(divisor_); }

  /// floor(n / d), for every n.
  [[nodiscard]] constexpr std::uint64_t quotient(std::uint64_t n) const noexcept {
    const std::uint64_t high = high_product(multiplier_, n);
    return (high + ((n - high) >> first_shift_)) >> last_shift_;
  }

  /// floor(n / d) in one multiplication and one shift. REQUIRES: n < 2^63 and d > 1.
  [[nodiscard]] constexpr std::uint64_t quotient_of_half_range(std::uint64_t n) const noexcept {
    assert(n >> 63 == 0 && divisor_ > 1);
    return high_product(half_multiplier_, n) >> last_shift_;
  }

 private:
  __extension__ using uint128 = unsigned __int128;
  static constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128>(a) * b) >> 64);
  }
  std::uint64_t divisor_, multiplier_ = 0, half_multiplier_ = 0;
  int first_shift_ = 0, last_shift_ = 0;
};

static_assert(sizeof(invariant_divisor) == 32);

}  // namespace longshore
