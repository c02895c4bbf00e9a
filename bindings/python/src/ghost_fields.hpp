// The arrays that a program gives to a Ghost as its fields.
#pragma once

#include "ghost_graphs.hpp"
#include "ghost_plans.hpp"

#include <longshore/exchange/runtime_types.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <vector>

namespace longshore::python {

/// The type of a number of a field. Complex numbers are two numbers each.
[[nodiscard]] detail::number_type number_type_of(element type);

/// Fields, the arrays that own their memory, and the arrays with their owned elements.
struct field_list {
  std::vector<ghost_rows> fields;
  std::vector<python_reference> arrays, elements;
  nb::list given;

  void add(const ghost_rows& field, nb::object array, nb::object with_elements, std::size_t owned) {
    fields.push_back(field);
    given.append(array);
    arrays.emplace_back(std::move(array));
    elements.emplace_back(with_elements[nb::slice(nb::int_(0), nb::int_(owned), nb::none())]);
  }
};

/// Reads `given`: arrays of the program, or the number of fields to make. New fields have the types
/// `dtype`, and elements of `items` numbers.
[[nodiscard]] field_list fields_from(nb::handle given, nb::handle dtype, nb::handle items,
                                     const rank_graph& graph);

}  // namespace longshore::python
