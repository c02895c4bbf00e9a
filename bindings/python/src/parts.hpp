// The part of a Halo or of Boxes that a call takes: some fields, and at most some layers of their
// halos.
#pragma once

#include "cell_fields.hpp"
#include "gil.hpp"
#include "operations.hpp"
#include "python_number.hpp"

#include <longshore/exchange/exchange_part.hpp>

#include <nanobind/nanobind.h>

#include <optional>
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

/// start_accumulate or start_assemble of the C++ plan `Exchange`.
template <class Exchange>
using start_of_part = void (Exchange::*)(std::span<const combine_op> operations,
                                         const exchange_part& part,
                                         std::optional<device_stream> stream);
/// A method of `Self`, a Halo or Boxes, that begins an operation which combines.
template <class Self, class Exchange, start_of_part<Exchange> Start>
void start_combining(const Self& self, nb::handle op, nb::handle fields, nb::handle width,
                     nb::handle stream) {
  auto& plan = self.plan();
  const exchange_part part = part_from(self.fields, nb::tuple(), fields, width);
  const std::vector<combine_op> ops = ops_from(op, contents_of(self.fields, part), plan.errors());
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plan.start([&](Exchange& exchange) { (exchange.*Start)(ops, part, on); });
}

}  // namespace longshore::python
