// The fields of a Halo: their names, layers of cells and arrays. Dimension d of Python is dimension
// (dimensions - 1 - d) of C++.
#pragma once

#include "arrays.hpp"
#include "operations.hpp"

#include <longshore/halo/halo_exchange.hpp>
#include <longshore/transport/team.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace longshore::python {

using shape_list = std::vector<std::size_t>;

inline constexpr int max_fields_of_halo = 1000;

/// The widths of the halo of a field, and the layers that its block shares with the next block,
/// along each dimension of Python.
struct field_layers {
  std::vector<int> low, high, shared;

  /// The extents of the interior of a field on a block of `cells`. They include the shared layers.
  [[nodiscard]] shape_list interior(const shape_list& cells) const;
  friend bool operator==(const field_layers&, const field_layers&) = default;
};

struct halo_field {
  std::string name = {};  ///< empty if the program gave no names
  field_layers layers = {};
  element type = element::float64;
  nb::object array = {};  ///< null until add_memory() makes it
};

/// Reads the arguments of a Halo.
[[nodiscard]] std::vector<halo_field> halo_fields_from(nb::handle fields, nb::handle dtype,
                                                       nb::handle width, nb::handle shared,
                                                       std::size_t dimensions);
/// Makes the array of a field, in memory that neighbours on the node can read, or checks the array
/// of the program. `cells`: the block of this rank.
[[nodiscard]] field_memory add_memory(halo_field& field, const shape_list& cells,
                                      const team& ranks);

/// Returns the number of a field, which is given by its number, its name, or its array. The number
/// itself is not checked.
[[nodiscard]] int number_of(std::span<const halo_field> fields, nb::handle given);
/// Like number_of(), but throws errc::usage for a number that no field has.
[[nodiscard]] std::size_t checked_number_of(std::span<const halo_field> fields, nb::handle given);

/// Reads the arguments of an exchange: `arrays` and `fields`, and the width or None.
[[nodiscard]] halo_part part_from(std::span<const halo_field> fields, nb::handle arrays,
                                  nb::handle given, nb::handle width);
/// The contents of the fields of a part. Numbers that no field has are left out.
[[nodiscard]] std::vector<element_content> contents_of(std::span<const halo_field> fields,
                                                       const halo_part& part);

}  // namespace longshore::python
