// Atomic stores and updates, for elements in shared memory that several ranks may write at the same
// time. They use the compiler's atomic operations, because <atomic> takes long to compile.
#pragma once

#include <longshore/core/op.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace longshore::detail {

/// Whether the processor stores a T atomically. Elements of a table are aligned to their size, even
/// if their type requires less.
template <trivially_copyable T>
inline constexpr bool is_one_word = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 ||
                                    sizeof(T) == 8;

template <trivially_copyable T>
requires is_one_word<T>
using word_of = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// *element = value. If several ranks store to one element, the element gets one of the values
/// whole. Compiles to a plain store.
template <trivially_copyable T>
requires is_one_word<T>
inline void store_atomically(T* element, const T& value) noexcept {
  __atomic_store_n(reinterpret_cast<word_of<T>*>(element), std::bit_cast<word_of<T>>(value),
                   __ATOMIC_RELAXED);
}

/// *element = op(*element, value), atomic with respect to other calls of update_atomically.
/// Compiles to one instruction if the processor has one for the operation, else to a loop of
/// compare-and-swap.
template <trivially_copyable T, update_operation<T> Op>
requires is_one_word<T>
inline void update_atomically(T* element, const T& value, const Op& op) {
  using word = word_of<T>;
  auto* const shared = reinterpret_cast<word*>(element);
  const word bits = std::bit_cast<word>(value);
  constexpr int relaxed = __ATOMIC_RELAXED;  // a barrier follows before anybody reads
  if constexpr (std::integral<T> && std::same_as<Op, op::add>)
    __atomic_fetch_add(shared, bits, relaxed);
  else if constexpr (std::integral<T> && std::same_as<Op, op::bit_xor>)
    __atomic_fetch_xor(shared, bits, relaxed);
  else if constexpr (std::integral<T> && std::same_as<Op, op::bit_or>)
    __atomic_fetch_or(shared, bits, relaxed);
  else if constexpr (std::integral<T> && std::same_as<Op, op::bit_and>)
    __atomic_fetch_and(shared, bits, relaxed);
  else
    for (word before = __atomic_load_n(shared, relaxed);;) {
      const word after = std::bit_cast<word>(static_cast<T>(op(std::bit_cast<T>(before), value)));
      constexpr bool may_fail = true;  // also if no other rank has changed the element
      if (after == before ||
          __atomic_compare_exchange_n(shared, &before, after, may_fail, relaxed, relaxed))
        return;
    }
}

}  // namespace longshore::detail
