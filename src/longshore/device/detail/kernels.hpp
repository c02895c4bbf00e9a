// The work of one thread of a launch, the same for all drivers.
#pragma once

#include <longshore/device/driver.hpp>

#include <type_traits>

#if defined(__CUDACC__) || defined(__HIP__)
#define LONGSHORE_KERNEL __host__ __device__ inline
#else
#define LONGSHORE_KERNEL inline
#endif

namespace longshore::detail {

template <class Number>
LONGSHORE_KERNEL std::ptrdiff_t box_offset(const std::size_t* extents,
                                           const std::ptrdiff_t* strides, std::size_t element) {
  const auto i = static_cast<Number>(element), x = static_cast<Number>(extents[0]),
             y = static_cast<Number>(extents[1]), row = i / x;
  return static_cast<std::ptrdiff_t>(i - row * x) * strides[0] +
         static_cast<std::ptrdiff_t>(row % y) * strides[1] +
         static_cast<std::ptrdiff_t>(row / y) * strides[2];
}

/// The distance of element i of a piece from its first element, in bytes.
LONGSHORE_KERNEL std::ptrdiff_t element_offset(const std::size_t* extents,
                                               const std::ptrdiff_t* strides,
                                               const std::uint32_t* index, std::size_t i) {
  if (index != nullptr) return static_cast<std::ptrdiff_t>(index[i]) * strides[0];
  // Devices divide 32-bit numbers faster.
  const bool is_short = (i | extents[0] | extents[1]) < std::size_t{1} << 32;
  return is_short ? box_offset<std::uint32_t>(extents, strides, i)
                  : box_offset<std::size_t>(extents, strides, i);
}

/// The operations as in core/op.hpp, whose functions a device cannot call.
template <class T>
LONGSHORE_KERNEL T combined(device_op op, T a, T b) {
  switch (op) {
    case device_op::min: return b < a ? b : a;
    case device_op::max: return a < b ? b : a;
    case device_op::bit_or:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(a | b);
      return a;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {  // wraps around
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b)));
  } else {
    return a + b;
  }
}

/// Calls f with a number of the type.
template <class F>
void with_number(device_number type, const F& f) {
  switch (type) {
    case device_number::i8: return f(std::int8_t{});
    case device_number::i16: return f(std::int16_t{});
    case device_number::i32: return f(std::int32_t{});
    case device_number::i64: return f(std::int64_t{});
    case device_number::u8: return f(std::uint8_t{});
    case device_number::u16: return f(std::uint16_t{});
    case device_number::u32: return f(std::uint32_t{});
    case device_number::u64: return f(std::uint64_t{});
    case device_number::f32: return f(float{});
    case device_number::f64: return f(double{});
  }
}

}  // namespace longshore::detail
