// Helpers of code that lays out or sends memory: distances that avoid false sharing, rounding up to
// a unit, and views of objects as bytes.
#pragma once

#include <longshore/core/detail/requirements.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace longshore {

/// Data of different writers (ranks or threads) should be at least this many bytes apart. Otherwise
/// the writers take cache lines from each other (false sharing). The distance is two cache lines of
/// 64 bytes, because processors also prefetch the adjacent line.
inline constexpr std::size_t interference_bytes = 128;

/// Size of a cache line. Memory with this alignment suits vector instructions and streaming stores
/// too.
inline constexpr std::size_t cache_line_bytes = 64;

/// The smallest multiple of `unit` that is at least `n`. REQUIRES: unit > 0; it need not be a power
/// of two.
[[nodiscard]] constexpr std::size_t round_up(std::size_t n, std::size_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

/// Types that can be sent from rank to rank by copying their bytes.
template <class T>
concept trivially_copyable = std::is_trivially_copyable_v<T>;

/// The bytes of one object, for calls that take bytes.
template <trivially_copyable T>
[[nodiscard]] std::span<std::byte> bytes_of(T& object) noexcept {
  return std::as_writable_bytes(std::span<T, 1>(&object, 1));
}
template <trivially_copyable T>
[[nodiscard]] std::span<const std::byte> bytes_of(const T& object) noexcept {
  return std::as_bytes(std::span<const T, 1>(&object, 1));
}

}  // namespace longshore
