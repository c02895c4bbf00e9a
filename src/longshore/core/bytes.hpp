// Sizes and views of raw memory.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace longshore {

/// Distance at which two ranks can write without slowing each other down (adjacent-line prefetch
/// makes it two lines of 64).
inline constexpr std::size_t interference_bytes = 128;

/// Alignment of everything that vector instructions or streaming stores work on.
inline constexpr std::size_t cache_line_bytes = 64;

/// The smallest multiple of `unit` (any positive number) that is not below `n`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t n, std::size_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

/// Types whose bytes may be copied from rank to rank.
template <class T>
concept trivially_copyable = std::is_trivially_copyable_v<T>;

/// The bytes of one object, for calls that speak bytes.
template <trivially_copyable T>
[[nodiscard]] std::span<std::byte> bytes_of(T& object) noexcept {
  return std::as_writable_bytes(std::span<T, 1>(&object, 1));
}
template <trivially_copyable T>
[[nodiscard]] std::span<const std::byte> bytes_of(const T& object) noexcept {
  return std::as_bytes(std::span<const T, 1>(&object, 1));
}

}  // namespace longshore
