// The memory of NumPy arrays. Arrays from Python are never copied. The error for an unsuitable
// array says how to make a suitable array.
#pragma once

#include <longshore/exchange/runtime_types.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace longshore::python {

namespace nb = nanobind;

/// Throws TypeError.
template <class... Values>
[[noreturn]] void type_error(fmt::format_string<Values...> text, Values&&... values) {
  throw nb::type_error(fmt::format(text, std::forward<Values>(values)...).c_str());
}
/// Throws ValueError.
template <class... Values>
[[noreturn]] void value_error(fmt::format_string<Values...> text, Values&&... values) {
  throw nb::value_error(fmt::format(text, std::forward<Values>(values)...).c_str());
}

/// Types of elements. Complex elements can be moved, but not used in computations. element_names,
/// bytes_of() and the functions is_...() depend on the order of these types.
using element = longshore::detail::number_type;
inline constexpr std::array<std::string_view, 12> element_names = {
    "int8",   "int16",  "int32",   "int64",   "uint8",     "uint16",
    "uint32", "uint64", "float32", "float64", "complex64", "complex128"};
static_assert(element_names.size() == static_cast<std::size_t>(element::complex128) + 1);
[[nodiscard]] constexpr std::string_view name_of(element type) noexcept {
  return element_names[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr std::size_t bytes_of(element type) noexcept {
  constexpr std::array<std::size_t, element_names.size()> bytes = {1, 2, 4, 8, 1, 2,
                                                                   4, 8, 4, 8, 8, 16};
  return bytes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr bool is_complex(element type) noexcept {
  return type >= element::complex64;
}
[[nodiscard]] constexpr bool is_floating(element type) noexcept {
  return type >= element::float32 && !is_complex(type);
}
[[nodiscard]] constexpr bool is_signed(element type) noexcept { return type <= element::int64; }

inline constexpr auto all_elements = [] {
  std::array<element, element_names.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<element>(i);
  return all;
}();
/// All types except for the complex types, which come last.
inline constexpr std::span real_elements(all_elements.data(),
                                         static_cast<std::size_t>(element::complex64));

/// The type for a name, a NumPy dtype or a NumPy scalar type. Throws TypeError that lists the
/// allowed types.
[[nodiscard]] element element_of(nb::handle dtype, std::span<const element> allowed = all_elements);
[[nodiscard]] nb::dlpack::dtype dlpack_of(element type) noexcept;
/// numpy.dtype of the type.
[[nodiscard]] nb::object dtype_of(element type);

/// The memory of a Python array. It stays valid during the lifetime of this object.
template <class Byte>
struct array_memory {
  Byte* data = nullptr;
  element type{};
  std::vector<std::size_t> shape;
  std::vector<std::ptrdiff_t> strides_bytes;
  std::size_t items = 0;
  bool contiguous = true;  ///< in C order
  nb::object owner;

  [[nodiscard]] std::size_t bytes() const noexcept { return items * bytes_of(type); }
};
using array_to_read = array_memory<const std::byte>;
using array_to_write = array_memory<std::byte>;

/// These functions throw TypeError, with a list of the allowed types, unless `array` is an array of
/// an allowed type. They throw ValueError for a read-only array that must be written. The functions
/// contiguous_... also throw ValueError for an array that is not contiguous. `what` names the array
/// in messages.
[[nodiscard]] array_to_write array_for_writing(nb::handle array, const char* what,
                                               std::span<const element> allowed = all_elements);
[[nodiscard]] array_to_read contiguous_for_reading(nb::handle array, const char* what,
                                                   std::span<const element> allowed = all_elements);
[[nodiscard]] array_to_write contiguous_for_writing(
    nb::handle array, const char* what, std::span<const element> allowed = all_elements);

/// An array of NumPy that describes an array in device memory, which has __cuda_array_interface__.
/// Nobody may use its elements. Returns other objects unchanged. Throws errc::unsupported if this
/// process has no device, and TypeError or ValueError for a wrong interface.
[[nodiscard]] nb::object described_array(nb::handle given, const char* what);

/// The memory of an array whose rows, the parts along its first axis, are moved as a whole. Rows may
/// have any stride in bytes.
struct array_rows {
  std::byte* data = nullptr;
  std::size_t rows = 0;
  std::ptrdiff_t stride_bytes = 0;
  std::size_t row_bytes = 0;
  std::optional<element> type;  ///< of the numbers in a row; nothing for structured types
  std::size_t numbers = 1;      ///< in a row
};
/// Throws TypeError unless `array` is an array of numbers or of a structured type, and ValueError if
/// it is read-only, if its rows are not contiguous, or if its numbers are not aligned.
[[nodiscard]] array_rows rows_for_writing(nb::handle given, const char* what);

/// The owner of memory in which array_over() makes arrays.
[[nodiscard]] nb::capsule owner_of(std::unique_ptr<shareable_memory> memory);
/// numpy.empty(shape, dtype).
[[nodiscard]] nb::object new_array(const std::vector<std::size_t>& shape, element type);
/// An array over memory that `owner` keeps valid; contiguous if strides are not given.
[[nodiscard]] nb::object array_over(void* data, const std::vector<std::size_t>& shape, element type,
                                    nb::handle owner,
                                    const std::vector<std::ptrdiff_t>& strides_bytes = {});

}  // namespace longshore::python
