// The fields of a Halo or of Boxes: their names, layers of cells and arrays. Dimension d of Python is
// dimension (dimensions - 1 - d) of C++.
#pragma once

#include "arrays.hpp"
#include "operations.hpp"

#include <longshore/exchange/field_view.hpp>
#include <longshore/transport/team.hpp>

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::python {

using shape_list = std::vector<std::size_t>;

inline constexpr int max_fields_of_plan = 1000;

/// The widths of the halo of a field, and the layers that a block shares with the next block, along
/// each dimension of Python.
struct field_layers {
  std::vector<int> low, high, shared;

  /// The extents of the interior of a field on a block of `cells`. They include the shared layers.
  [[nodiscard]] shape_list interior(const shape_list& cells) const;
  [[nodiscard]] halo_widths widths_of_cpp() const;
  [[nodiscard]] std::array<int, 3> shared_of_cpp() const;
  friend bool operator==(const field_layers&, const field_layers&) = default;
};

struct cell_field {
  std::string name = {};  ///< empty if the program gave no names
  field_layers layers = {};
  element type = element::float64;
  /// What the program gave or gets: the array of a Halo, or the arrays of boxes. Null until it is
  /// made.
  nb::object arrays = {};
};

/// Reads the arguments of a plan of fields.
[[nodiscard]] std::vector<cell_field> cell_fields_from(nb::handle fields, nb::handle dtype,
                                                       nb::handle width, nb::handle shared,
                                                       std::size_t dimensions);
[[nodiscard]] halo_widths widths_from(nb::handle width, std::size_t dimensions);

/// An array of a field, and the memory of its cells.
struct field_block {
  nb::object array;
  field_memory memory;
};
/// Makes the arrays of a field on blocks of these cells, in one memory that neighbours on the node
/// can read.
[[nodiscard]] std::vector<field_block> new_blocks(const cell_field& field,
                                                  std::span<const shape_list> cells,
                                                  const team& ranks);
/// Takes an array of the program, and sets the type of the field. `block` names the block in the
/// error for a wrong shape.
[[nodiscard]] field_memory memory_of(nb::handle array, cell_field& field, const shape_list& cells,
                                     std::string_view block);

/// Returns the index of a field, which is given by its index, its name, or its arrays. The index
/// itself is not checked.
[[nodiscard]] int index_of(std::span<const cell_field> fields, nb::handle given);
/// Like index_of(), but throws errc::usage for an index that no field has.
[[nodiscard]] std::size_t checked_index_of(std::span<const cell_field> fields, nb::handle given);
/// The layers of all fields, which must be the same. `what`: the property that needs this.
[[nodiscard]] const field_layers& layers_of_all(std::span<const cell_field> fields,
                                                const char* what);
[[nodiscard]] bool have_same_layers(std::span<const cell_field> fields);

[[nodiscard]] std::vector<element_content> contents_of(std::span<const cell_field> fields);
/// "halo 1", or "halo (1, 0), (1, 1), shared (0, 1)".
[[nodiscard]] std::string text_of(const field_layers& layers);
/// "u: float64, v: int32", with their layers if these are not the same.
[[nodiscard]] std::string text_of(std::span<const cell_field> fields);

}  // namespace longshore::python
