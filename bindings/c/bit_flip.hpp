// The radix keys of sorts whose type of keys is known at run time: unsigned integers with the order
// of the keys. The bindings of C and of Python use it.
#pragma once

#include <limits>

namespace longshore::bindings {

/// Converts the bits of a key to its radix key and back. Flips the bits `always`. If the highest
/// bit of the key is set, also flips the bits `if_negative`: all for floats, none for integers.
/// REQUIRES: `if_negative` is 0 or all ones. If it is all ones, `always` is the highest bit.
template <class Word>
struct bit_flip {
  Word if_negative = 0, always = 0;
  Word operator()(const Word& bits) const noexcept {
    // All ones if the highest bit is set, else 0.
    const auto negative = static_cast<Word>(0 - (bits >> (std::numeric_limits<Word>::digits - 1)));
    return bits ^ ((negative & if_negative) | always);
  }
  /// The bits of the key whose radix key is `word`.
  [[nodiscard]] Word inverse(Word word) const noexcept {
    // All ones if the key was negative, because then the highest bit of its radix key is 0.
    const auto was_negative =
        static_cast<Word>((word >> (std::numeric_limits<Word>::digits - 1)) - 1);
    return word ^ ((was_negative & if_negative) | always);
  }
};

/// The conversion for a kind of number. `bounded` keys, which are in [0, max_key), are not flipped,
/// because the sort compares their values with max_key.
template <class Word>
[[nodiscard]] constexpr bit_flip<Word> bit_flip_of(bool is_floating, bool is_signed,
                                                   bool bounded) noexcept {
  if (bounded || !(is_signed || is_floating)) return {};
  return {static_cast<Word>(is_floating ? ~Word{0} : 0),
          static_cast<Word>(Word{1} << (std::numeric_limits<Word>::digits - 1))};
}

}  // namespace longshore::bindings
