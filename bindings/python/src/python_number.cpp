// Reads numbers from Python exactly: integers are never cut or rounded, and floats are not taken
// where a whole number is needed. Arguments of calls and the values of updates come through here.
#include "python_number.hpp"

#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <cstring>
#include <string>

namespace longshore::python {
namespace {

// The text of a number, string or None. For other objects, whose text may be long, their type.
std::string text_of(nb::handle given) {
  const bool is_number = PyNumber_Check(given.ptr()) != 0 && !nb::hasattr(given, "__len__");
  if (is_number || PyUnicode_Check(given.ptr()) != 0 || given.is_none())
    return nb::cast<std::string>(nb::repr(given));
  return nb::cast<std::string>(nb::str(given.type().attr("__name__")));
}

[[noreturn]] void refuse(nb::handle given, const char* what, const char* needed) {
  type_error("{}: {} is needed, got {}", what, needed, text_of(given));
}

[[noreturn]] void out_of_range(nb::handle given, element type, const char* what) {
  fail(errc::usage, "{}: {} is out of the range of {}", what, text_of(given), name_of(type));
}

template <class Number>
element_bytes bytes_of_number(Number number) {
  element_bytes bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// Narrow elements take the low bytes of the number, which come first in memory.
static_assert(std::endian::native == std::endian::little);

element_bytes integer_from(nb::handle number, element type, const char* what) {
  const nb::object whole = nb::steal(PyNumber_Index(number.ptr()));
  if (!whole.is_valid()) nb::raise_python_error();
  const std::size_t bits = 8 * bytes_of(type);
  if (type == element::uint64) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred() == nullptr) return bytes_of_number(value);
    PyErr_Clear();
    out_of_range(number, type, what);
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  // For uint64, which was handled above, 2 * signed_max + 1 would overflow.
  const std::int64_t signed_max = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  const std::int64_t min = is_signed(type) ? -signed_max - 1 : 0;
  if (overflow != 0 || value < min || value > (is_signed(type) ? signed_max : 2 * signed_max + 1))
    out_of_range(number, type, what);
  return bytes_of_number(value);
}

element_bytes float_from(nb::handle number, element type, const char* what) {
  const double value = PyFloat_AsDouble(number.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) {  // an int beyond the range of double
    PyErr_Clear();
    out_of_range(number, type, what);
  }
  return type == element::float32 ? bytes_of_number(static_cast<float>(value))
                                  : bytes_of_number(value);
}

}  // namespace

nb::object plain_number(nb::handle given) {
  if (PyLong_CheckExact(given.ptr()) || PyFloat_CheckExact(given.ptr())) return nb::borrow(given);
  if (!nb::hasattr(given, "ndim") || !nb::hasattr(given, "item") ||
      nb::cast<int>(given.attr("ndim")) != 0)
    return nb::borrow(given);
  return given.attr("item")();
}

std::int64_t whole_number(nb::handle given, const char* what, std::int64_t min, std::int64_t max) {
  const nb::object number = plain_number(given);
  if (PyIndex_Check(number.ptr()) == 0) refuse(given, what, "a whole number");
  const nb::object whole = nb::steal(PyNumber_Index(number.ptr()));
  if (!whole.is_valid()) nb::raise_python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0 || value < min || value > max)
    fail(errc::usage, "{}: {} is not from {} to {}", what, text_of(given), min, max);
  return value;
}

bool truth(nb::handle given, const char* what) {
  const nb::object number = plain_number(given);
  if (PyIndex_Check(number.ptr()) == 0) refuse(given, what, "True or False");
  return whole_number(number, what, 0, 1) != 0;
}

std::optional<device_stream> stream_from(nb::handle given) {
  if (given.is_none()) return std::nullopt;
  return device_stream(reinterpret_cast<void*>(whole_number(given, "stream", 0)));
}

element_bytes element_from(nb::handle given, element type, const char* what) {
  const nb::object number = plain_number(given);
  const bool is_whole = PyIndex_Check(number.ptr()) != 0;
  if (!is_whole && PyFloat_Check(number.ptr()) == 0)
    refuse(given, what, "a number, or a NumPy array with one for each index,");
  if (is_floating(type)) return float_from(number, type, what);
  if (!is_whole) refuse(given, what, "a whole number, as the elements of the table are,");
  return integer_from(number, type, what);
}

}  // namespace longshore::python
