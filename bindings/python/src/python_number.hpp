// Numbers of Python as numbers of C++: exactly what was given, or refused with words that help.
// Those of NumPy are as good as Python's own.
#pragma once

#include "arrays.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace longshore::python {

/// A number of Python for a scalar of NumPy, also for an array of no dimension; else what was
/// given.
[[nodiscard]] nb::object plain_number(nb::handle given);

/// Throws TypeError for what is no whole number, errc::usage for one that is not from `least` to
/// `most`.
[[nodiscard]] std::int64_t whole_number(
    nb::handle given, const char* what,
    std::int64_t least = std::numeric_limits<std::int64_t>::min(),
    std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// True, False, 0 or 1. Throws TypeError for anything else.
[[nodiscard]] bool truth(nb::handle given, const char* what);

/// The bytes of one element.
using element_bytes = std::array<std::byte, 8>;
/// Throws TypeError for what is no number, or no whole one where elements are integers; errc::usage
/// for one that such an element does not hold. Floats may round.
[[nodiscard]] element_bytes element_from(nb::handle given, element type, const char* what);

}  // namespace longshore::python
