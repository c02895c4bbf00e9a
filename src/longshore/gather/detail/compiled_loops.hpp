// The loops of gather, scatter and updates that the library has compiled, so that user programs
// compile quickly. One compiled loop serves many types of elements: a loop that only copies
// elements depends on their size alone. Loops for other types are compiled with the user's code.
#pragma once

#include <longshore/array/any_distribution.hpp>
#include <longshore/core/op.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace longshore::detail {

/// Elements of 4 and of 8 bytes that are only copied. A pointer to a word may alias any type.
enum class [[gnu::may_alias]] word32 : std::uint32_t{};
enum class [[gnu::may_alias]] word64 : std::uint64_t{};

template <class Distribution>
inline constexpr bool is_library_distribution =
    std::same_as<Distribution, block> || std::same_as<Distribution, cyclic> ||
    std::same_as<Distribution, block_cyclic> || std::derived_from<Distribution, any_distribution>;

/// Which loops gather and scatter use for elements of type T: whether the library has compiled
/// them, and on which types they work. Scalars are aligned to their size, as words are.
template <class T, class Distribution>
struct compiled_copy_types {
  static constexpr bool is_compiled =
      std::is_scalar_v<T> && (sizeof(T) == sizeof(word32) || sizeof(T) == sizeof(word64)) &&
      is_library_distribution<Distribution>;
  using word = std::conditional_t<sizeof(T) == sizeof(word32), word32, word64>;
  using element = std::conditional_t<is_compiled, word, T>;
  using distribution = std::conditional_t<is_compiled, any_distribution, Distribution>;
};

/// Which loops updates use for elements of type T: whether the library has compiled them, and on
/// which types they work. Signed and unsigned sums have the same bits, so compiled loops work on
/// unsigned integers.
template <class T, class Distribution, class Op>
struct compiled_add_types {
  using number = typename std::conditional_t<std::integral<T> && !std::same_as<T, bool>,
                                             std::make_unsigned<T>, std::type_identity<T>>::type;
  static constexpr bool is_compiled =
      is_library_distribution<Distribution> && std::same_as<Op, op::add> &&
      (std::same_as<T, float> || std::same_as<T, double> || std::same_as<number, std::uint32_t> ||
       std::same_as<number, std::uint64_t>);
  using element = std::conditional_t<is_compiled, number, T>;
  using distribution = std::conditional_t<is_compiled, any_distribution, Distribution>;
};

}  // namespace longshore::detail
