// Atomic stores and updates, for elements in shared memory that several ranks may write at the same
// time.
#pragma once

#include <longshore/core/op.hpp>

#include <atomic>
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
  std::atomic_ref(*reinterpret_cast<word_of<T>*>(element))
      .store(std::bit_cast<word_of<T>>(value), std::memory_order_relaxed);
}

/// *element = op(*element, value), atomic with respect to other calls of update_atomically.
/// Compiles to one instruction if the processor has one for the operation, else to a loop of
/// compare-and-swap.
template <trivially_copyable T, update_operation<T> Op>
requires is_one_word<T>
inline void update_atomically(T* element, const T& value, const Op& op) {
  using word = word_of<T>;
  std::atomic_ref<word> shared(*reinterpret_cast<word*>(element));
  const word bits = std::bit_cast<word>(value);
  constexpr auto relaxed = std::memory_order_relaxed;  // a barrier follows before anybody reads
  if constexpr (std::integral<T> && std::same_as<Op, op::add>)
    shared.fetch_add(bits, relaxed);
  else if constexpr (std::integral<T> && std::same_as<Op, op::bit_xor>)
    shared.fetch_xor(bits, relaxed);
  else if constexpr (std::integral<T> && std::same_as<Op, op::bit_or>)
    shared.fetch_or(bits, relaxed);
  else if constexpr (std::integral<T> && std::same_as<Op, op::bit_and>)
    shared.fetch_and(bits, relaxed);
  else
    for (word before = shared.load(relaxed);;) {
      const word after = std::bit_cast<word>(static_cast<T>(op(std::bit_cast<T>(before), value)));
      if (after == before || shared.compare_exchange_weak(before, after, relaxed)) return;
    }
}

}  // namespace longshore::detail
