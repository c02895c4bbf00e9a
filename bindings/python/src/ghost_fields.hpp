// The arrays that a program gives to a Ghost as its fields.
#pragma once

#include "ghost_graphs.hpp"
#include "ghost_plans.hpp"

#include <nanobind/nanobind.h>

#include <vector>

namespace longshore::python {

/// Fields, and the arrays that own their memory.
struct field_list {
  std::vector<ghost_rows> fields;
  std::vector<python_reference> arrays;
  nb::list given;

  void add(const ghost_rows& field, nb::object array) {
    fields.push_back(field);
    given.append(array);
    arrays.emplace_back(std::move(array));
  }
};

/// Reads `given`: arrays of the program.
[[nodiscard]] field_list arrays_from(nb::handle given, const rank_graph& graph);
/// Reads `given`: arrays of the program, None for no fields, or the number of fields to make. New
/// fields have the types `dtype`, and elements of `items` numbers.
[[nodiscard]] field_list fields_from(nb::handle given, nb::handle dtype, nb::handle items,
                                     const rank_graph& graph);

}  // namespace longshore::python
