// The part of a Halo or of Boxes that a call takes: some fields, and at most some layers of their
// halos.
#pragma once

#include "cell_fields.hpp"
#include "operations.hpp"

#include <longshore/exchange/exchange_part.hpp>

#include <nanobind/nanobind.h>

#include <span>
#include <vector>

// The types of arguments, in signatures.
#define WIDTH_OF_CALL "int | collections.abc.Sequence[int | tuple[int, int]] | None"
#define COMBINING_CALL(FIELDS)                                                            \
  "self, op: str | collections.abc.Callable[..., typing.Any] = 'add', *, fields: " FIELDS \
  " = None, width: " WIDTH_OF_CALL " = None, " STREAM_OF_CALL

namespace longshore::python {

/// Reads the arguments of an operation: `arrays` of a Halo, fields by `given`, and the width or None.
[[nodiscard]] exchange_part part_from(std::span<const cell_field> fields, nb::handle arrays,
                                      nb::handle given, nb::handle width);
/// The contents of the fields of a part. Numbers that no field has are left out.
[[nodiscard]] std::vector<element_content> contents_of(std::span<const cell_field> fields,
                                                       const exchange_part& part);

}  // namespace longshore::python
