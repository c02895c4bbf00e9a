// Converts Python numbers, including scalars of NumPy, to C++ numbers. The error for an unsuitable
// object says what is needed.
#pragma once

#include "arrays.hpp"

#include <longshore/device/stream.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace longshore::python {

/// Converts a NumPy scalar or an array without dimensions to a Python number. Returns other objects
/// unchanged.
[[nodiscard]] nb::object plain_number(nb::handle given);

/// Throws TypeError unless `given` is a whole number, and errc::usage unless the number is from
/// `min` to `max`. `what` names the argument in messages.
[[nodiscard]] std::int64_t whole_number(
    nb::handle given, const char* what, std::int64_t min = std::numeric_limits<std::int64_t>::min(),
    std::int64_t max = std::numeric_limits<std::int64_t>::max());
/// The value of True, False, 0 or 1.
[[nodiscard]] bool truth(nb::handle given, const char* what);

/// The stream of a device for its handle, a whole number; nothing for None.
[[nodiscard]] std::optional<device_stream> stream_from(nb::handle given);

/// The bytes of one element of a type in real_elements. Narrow elements take the first bytes.
using element_bytes = std::array<std::byte, 8>;
/// Throws TypeError unless `given` is a number, or a whole number for integer types. Throws
/// errc::usage for a number out of the range of the type. Floats may be rounded. REQUIRES: the type
/// is not complex.
[[nodiscard]] element_bytes element_from(nb::handle given, element type, const char* what);

}  // namespace longshore::python
