// Random numbers that are the same on every machine and with every compiler, unlike the
// distributions of the standard library.
#pragma once

#include <longshore/core/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace longshore {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014). Turns any seed, even 0, 1, 2, ..., into well mixed
/// bits.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A hash of a text. `before` is the hash of the text before this text, if there is one.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text,
                                              std::uint64_t before = 0) noexcept {
  for (const char c : text) before = mix_bits(before ^ static_cast<unsigned char>(c));
  return before;
}

/// xoshiro256** (Blackman, Vigna, TOMS 2021), seeded through splitmix64. Different values of
/// `stream` with one seed give independent streams, for instance one per rank.
class random_stream {
 public:
  explicit constexpr random_stream(std::uint64_t seed, std::uint64_t stream = 0) noexcept {
    // ~stream, because without ~ the two terms would cancel if seed and stream are equal.
    std::uint64_t x = mix_bits(seed) ^ mix_bits(~stream);
    for (auto& word : state_) word = x = mix_bits(x);
  }

  /// 64 random bits.
  constexpr std::uint64_t operator()() noexcept {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// A number in [0, bound). REQUIRES: bound > 0. Uses Lemire's multiplication (TOMACS 2019)
  /// without its rejection step, so the bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using uint128 = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<uint128>((*this)()) * bound) >> 64);
  }

  /// A number in [0, 1) with 53 random bits.
  constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) noexcept {
    return (x << k) | (x >> (64 - k));
  }
  std::uint64_t state_[4] = {};
};

/// Fisher-Yates shuffle in place. Equal streams give equal results on every machine.
template <class T>
constexpr void shuffle(std::span<T> items, random_stream& random) noexcept {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<std::size_t>(random.below(i))]);
}

}  // namespace longshore
