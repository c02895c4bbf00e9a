// NumPy arrays as memory: what came from Python is looked at, never copied, and what does not fit is refused with words that help.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace longshore::python {

namespace nb = nanobind;

/// Types of elements, in the order of their names. The last two are for what is moved, and not computed with.
enum class element { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128 };
inline constexpr std::array<std::string_view, 12> element_names = {
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"};
[[nodiscard]] constexpr std::string_view name_of(element type) noexcept { return element_names[static_cast<std::size_t>(type)]; }
[[nodiscard]] constexpr std::size_t bytes_of(element type) noexcept {
  constexpr std::array<std::size_t, 12> bytes = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
  return bytes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr bool is_complex(element type) noexcept { return type >= element::complex64; }
[[nodiscard]] constexpr bool is_floating(element type) noexcept { return type >= element::float32 && !is_complex(type); }
[[nodiscard]] constexpr bool is_signed(element type) noexcept { return type <= element::int64; }

/// The type that Python means by a name, a NumPy dtype or type. Throws TypeError that lists the types.
[[nodiscard]] element element_of(nb::handle dtype);
[[nodiscard]] nb::dlpack::dtype dlpack_of(element type) noexcept;
/// numpy.dtype of the type.
[[nodiscard]] nb::object dtype_of(element type);

/// An array of Python. The memory lives as long as this.
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

/// `what` is how the message calls it. Throw TypeError for what is no array of a type above. ... contiguous: ValueError for other strides.
[[nodiscard]] array_to_read array_for_reading(nb::handle array, const char* what);
[[nodiscard]] array_to_write array_for_writing(nb::handle array, const char* what);
[[nodiscard]] array_to_read contiguous_for_reading(nb::handle array, const char* what);
[[nodiscard]] array_to_write contiguous_for_writing(nb::handle array, const char* what);
/// Throws TypeError unless the elements are of that type.
void require_type(element given, element wanted, const char* what);

/// Throws TypeError for complex elements.
void require_real(element given, const char* what);

/// numpy.empty(shape, dtype).
[[nodiscard]] nb::object new_array(const std::vector<std::size_t>& shape, element type);
/// An array over memory that `owner` keeps. Strides in bytes; none: contiguous.
[[nodiscard]] nb::object array_over(void* data, const std::vector<std::size_t>& shape, element type, nb::handle owner,
                                    const std::vector<std::ptrdiff_t>& strides_bytes = {});

}  // namespace longshore::python
