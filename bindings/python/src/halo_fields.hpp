// The part of a Halo that a call takes: some fields, and at most some layers of their halos.
#pragma once

#include "cell_fields.hpp"
#include "operations.hpp"

#include <longshore/halo/halo_exchange.hpp>

#include <nanobind/nanobind.h>

#include <span>
#include <vector>

namespace longshore::python {

/// Reads the arguments of an exchange: `arrays` and `fields`, and the width or None.
[[nodiscard]] halo_part part_from(std::span<const cell_field> fields, nb::handle arrays,
                                  nb::handle given, nb::handle width);
/// The contents of the fields of a part. Numbers that no field has are left out.
[[nodiscard]] std::vector<element_content> contents_of(std::span<const cell_field> fields,
                                                       const halo_part& part);

}  // namespace longshore::python
