// A pseudo-random permutation of 0, ..., n - 1, which every rank can evaluate in both directions
// without storing the permutation. So random inputs do not depend on the number of ranks.
//
// The permutation is a Feistel network of four rounds on the smallest even number of bits that hold
// n - 1 (Luby and Rackoff, SIAM J. Comput. 1988). A value outside the range is mapped again (cycle
// walking; Black and Rogaway, CT-RSA 2002).
#pragma once

#include <longshore/core/random.hpp>

#include <bit>
#include <cstdint>

namespace examples {

class random_bijection {
 public:
  random_bijection(std::uint64_t n, std::uint64_t seed)
      : n_(n),
        seed_(longshore::mix_bits(seed)),
        half_bits_((static_cast<int>(std::bit_width(n > 1 ? n - 1 : 1)) + 1) / 2) {}

  /// REQUIRES: x < n.
  [[nodiscard]] std::int64_t operator()(std::int64_t x) const noexcept {
    auto y = static_cast<std::uint64_t>(x);
    do {
      for (std::uint64_t round = 0; round < rounds; ++round)
        y = (y & mask()) << half_bits_ | ((y >> half_bits_) ^ mixed(y & mask(), round));
    } while (y >= n_);
    return static_cast<std::int64_t>(y);
  }

  /// The x for which operator() returns y.
  [[nodiscard]] std::int64_t inverse(std::int64_t y) const noexcept {
    auto x = static_cast<std::uint64_t>(y);
    do {
      for (std::uint64_t round = rounds; round-- > 0;)
        x = ((x & mask()) ^ mixed(x >> half_bits_, round)) << half_bits_ | x >> half_bits_;
    } while (x >= n_);
    return static_cast<std::int64_t>(x);
  }

 private:
  static constexpr std::uint64_t rounds = 4;
  [[nodiscard]] std::uint64_t mask() const noexcept { return (std::uint64_t{1} << half_bits_) - 1; }
  [[nodiscard]] std::uint64_t mixed(std::uint64_t half, std::uint64_t round) const noexcept {
    return longshore::mix_bits(seed_ + rounds * half + round) & mask();
  }

  std::uint64_t n_, seed_;
  int half_bits_;
};

}  // namespace examples
