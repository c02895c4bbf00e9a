// Operations on words of 4 or 8 bytes, which are chosen at run time. So loops are compiled once per
// word size, not for each operation on each type. Sums are tested first, because most updates are
// sums. Other operations cost a call, which is cheap compared with the access to a remote element.
#pragma once

#include <longshore/core/op.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace longshore::bindings {

/// In the order of enum longshore_reduction.
enum class operation : std::uint8_t { sum, min, max, bit_xor, bit_or, bit_and };
/// The meaning of the bits of a word.
enum class number_kind : std::uint8_t { signed_integer, unsigned_integer, floating };

/// Whether the operation works on bits, and so has no meaning for floats.
[[nodiscard]] constexpr bool needs_integers(operation which) noexcept {
  return which >= operation::bit_xor;
}

struct word_operation {
  operation which = operation::sum;
  number_kind kind = number_kind::signed_integer;

  /// The name of the operation in longshore::op.
  [[nodiscard]] constexpr std::string_view name() const noexcept {
    constexpr std::string_view names[] = {"add", "min", "max", "bit_xor", "bit_or", "bit_and"};
    return names[static_cast<std::size_t>(which)];
  }
  template <std::integral Word>
  [[nodiscard]] Word operator()(const Word& a, const Word& b) const {
    if (which != operation::sum) return not_sum(a, b);
    if (kind != number_kind::floating) return op::add{}(a, b);
    return as<floating_of<Word>>(op::add{}, a, b);
  }

  /// The identity element of the operation.
  template <std::integral Word>
  [[nodiscard]] Word identity() const {
    return with_operation<Word>([](auto function, auto zero) {
      return std::bit_cast<Word>(decltype(function)::template identity<decltype(zero)>());
    });
  }

 private:
  template <class Word>
  using floating_of = std::conditional_t<sizeof(Word) == sizeof(float), float, double>;

  // The result of function(a, b) on numbers of type T whose bits are the words.
  template <class T, class Function, class Word>
  static Word as(const Function& function, const Word& a, const Word& b) {
    return std::bit_cast<Word>(function(std::bit_cast<T>(a), std::bit_cast<T>(b)));
  }

  // Not inlined, so that loops contain the code of sums only.
  template <class Word>
  [[gnu::noinline]] Word not_sum(Word a, Word b) const {
    return with_operation<Word>(
        [&](auto function, auto zero) { return as<decltype(zero)>(function, a, b); });
  }

  /// Returns body(function, zero) for the operation, with a zero of the type of the elements.
  template <class Word, class Body>
  Word with_operation(const Body& body) const {
    switch (which) {
      case operation::min: return typed<Word>(op::min{}, body);
      case operation::max: return typed<Word>(op::max{}, body);
      case operation::bit_xor: return body(op::bit_xor{}, Word{});
      case operation::bit_or: return body(op::bit_or{}, Word{});
      case operation::bit_and: return body(op::bit_and{}, Word{});
      case operation::sum: break;
    }
    return typed<Word>(op::add{}, body);
  }
  template <class Word, class Function, class Body>
  Word typed(const Function& function, const Body& body) const {
    if (kind == number_kind::floating) return body(function, floating_of<Word>{});
    if (kind == number_kind::unsigned_integer) return body(function, std::make_unsigned_t<Word>{});
    return body(function, std::make_signed_t<Word>{});
  }
};

}  // namespace longshore::bindings
