// Reads arguments that are one value for all dimensions of a grid, or a value for each dimension.
#pragma once

#include "python_number.hpp"

#include <longshore/core/error.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace longshore::python {

/// Whether the value is a list, a tuple or an array of one dimension, but no text and no scalar of
/// NumPy.
[[nodiscard]] inline bool is_sequence(nb::handle value) {
  return PySequence_Check(value.ptr()) != 0 && PyUnicode_Check(value.ptr()) == 0 &&
         plain_number(value).is(value);
}

[[nodiscard]] inline int count_of(nb::handle given, const char* what) {
  return static_cast<int>(whole_number(given, what, 0, std::numeric_limits<int>::max()));
}

/// Reads each value with `read(value, what)`.
template <class Read>
auto per_dimension(nb::handle given, std::size_t dimensions, const char* what, const Read& read) {
  std::vector<decltype(read(given, what))> values;
  if (!is_sequence(given)) {
    values.assign(dimensions, read(given, what));
    return values;
  }
  if (nb::len(given) != dimensions)
    fail(errc::usage, "{}: {} values for {} dimensions", what, nb::len(given), dimensions);
  for (const nb::handle value : given) values.push_back(read(value, what));
  return values;
}

}  // namespace longshore::python
