// Converts Python numbers to C++ numbers, exactly or with an error that says what is needed.
// Scalars of NumPy count as numbers.
#pragma once

#include "arrays.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace longshore::python {

/// The Python number of a NumPy scalar or of an array without dimensions. Returns anything else
/// unchanged.
[[nodiscard]] nb::object plain_number(nb::handle given);

/// Throws TypeError unless `given` is a whole number, and errc::usage unless it is from `least` to
/// `most`. `what` names the argument in messages.
[[nodiscard]] std::int64_t whole_number(
    nb::handle given, const char* what,
    std::int64_t least = std::numeric_limits<std::int64_t>::min(),
    std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// True, False, 0 or 1. Throws TypeError for anything else.
[[nodiscard]] bool truth(nb::handle given, const char* what);

/// The bytes of one element.
using element_bytes = std::array<std::byte, 8>;
/// Throws TypeError unless `given` is a number, and a whole one if elements are integers. Throws
/// errc::usage if it is out of the range of the type. Floats may be rounded.
[[nodiscard]] element_bytes element_from(nb::handle given, element type, const char* what);

}  // namespace longshore::python
