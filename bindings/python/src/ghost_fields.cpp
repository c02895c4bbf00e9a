// Makes or checks the arrays of the fields of a Ghost.
#include "ghost_fields.hpp"

#include "arrays.hpp"
#include "python_number.hpp"

#include <longshore/core/error.hpp>
#include <longshore/exchange/runtime_types.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace longshore::python {

namespace {

ghost_rows field_of(const array_rows& rows) {
  ghost_rows field;
  // Complex numbers are two numbers each.
  const std::size_t numbers = rows.numbers * (rows.type && is_complex(*rows.type) ? 2 : 1);
  field.content = {rows.type, numbers, rows.row_bytes};
  field.memory.element_bytes = rows.row_bytes;
  if (!rows.type)
    field.memory.type = &detail::element_type_of_bytes();
  else if (numbers == 1)
    field.memory.type = &detail::element_type_of_number(real_type_of(*rows.type));
  else
    field.memory.type = &detail::element_type_of_items(real_type_of(*rows.type));
  return field;
}

void set_elements(ghost_rows& field, const array_rows& rows) {
  field.memory.owned = rows.data;
  field.memory.owned_stride_bytes = rows.stride_bytes;
}

void set_ghosts(ghost_rows& field, const array_rows& rows, std::size_t first) {
  field.memory.ghosts = rows.data + static_cast<std::ptrdiff_t>(first) * rows.stride_bytes;
  field.memory.ghost_stride_bytes = rows.stride_bytes;
}

void check_rows(const array_rows& rows, std::size_t needed, const rank_graph& graph,
                const char* what) {
  if (rows.rows < needed)
    fail(errc::usage, "fields: an array of {} rows for {}; rank {} has {} elements and {} ghosts",
         rows.rows, what, graph.kept.owner().rank(), graph.owned, graph.ghosts);
}

void add_array(field_list& list, nb::handle array, const rank_graph& graph) {
  const array_rows rows = rows_for_writing(array, "fields");
  check_rows(rows, graph.owned + graph.ghosts, graph, "the elements and ghosts");
  ghost_rows field = field_of(rows);
  set_elements(field, rows);
  set_ghosts(field, rows, graph.owned);
  list.add(field, nb::borrow(array));
}

void add_pair(field_list& list, nb::handle pair, const rank_graph& graph) {
  const array_rows rows = rows_for_writing(pair[0], "fields"),
                   ghosts = rows_for_writing(pair[1], "fields");
  check_rows(rows, graph.owned, graph, "the elements");
  check_rows(ghosts, graph.ghosts, graph, "the ghosts");
  if (rows.type != ghosts.type || rows.row_bytes != ghosts.row_bytes)
    throw nb::type_error("fields: elements and ghosts of one field have different types");
  ghost_rows field = field_of(rows);
  set_elements(field, rows);
  set_ghosts(field, ghosts, 0);
  list.add(field, nb::borrow(pair));
}

auto places_of(nb::handle given, const array_rows& rows, std::size_t needed, const char* what) {
  const auto places = integers_of(given, "fields: places");
  if (places.size() != needed)
    fail(errc::usage, "fields: {} places for {} {}", places.size(), needed, what);
  for (const std::int64_t place : places)
    if (place < 0 || static_cast<std::size_t>(place) >= rows.rows)
      fail(errc::usage, "fields: place {} in an array of {} rows", place, rows.rows);
  return detail::places_from(places);
}

void add_places(field_list& list, nb::handle given, const rank_graph& graph) {
  const array_rows rows = rows_for_writing(given[0], "fields");
  ghost_rows field = field_of(rows);
  set_elements(field, rows);
  set_ghosts(field, rows, 0);
  field.memory.owned_places = places_of(given[1], rows, graph.owned, "elements");
  field.memory.ghost_places = places_of(given[2], rows, graph.ghosts, "ghosts");
  list.add(field, nb::borrow(given));
}

// Makes a field in memory that neighbours on the node can read.
void add_new(field_list& list, element type, std::size_t items, const rank_graph& graph) {
  const std::size_t rows = graph.owned + graph.ghosts;
  std::vector<std::size_t> shape{rows};
  if (items > 1) shape.push_back(items);
  auto memory = std::make_unique<shareable_memory>(
      graph.kept.owner().ranks(), std::max<std::size_t>(rows * items * bytes_of(type), 1));
  std::byte* const data = memory->data();
  add_array(list, array_over(data, shape, type, owner_of(std::move(memory))), graph);
}

}  // namespace

field_list fields_from(nb::handle given, nb::handle dtype, nb::handle items,
                       const rank_graph& graph) {
  field_list list;
  if (const nb::object number = plain_number(given); PyLong_Check(number.ptr())) {
    const std::int64_t count = whole_number(number, "fields", 1, 1000),
                       numbers = whole_number(items, "items", 1, 1'000'000);
    const bool has_types = nb::isinstance<nb::list>(dtype);
    if (has_types && nb::len(dtype) != static_cast<std::size_t>(count))
      fail(errc::usage, "dtype: {} types for {} fields", nb::len(dtype), count);
    for (std::int64_t i = 0; i < count; ++i)
      add_new(list, element_of(has_types ? nb::object(dtype[i]) : nb::borrow(dtype)),
              static_cast<std::size_t>(numbers), graph);
    return list;
  }
  if (given.is_none()) return list;
  return arrays_from(given, graph);
}

field_list arrays_from(nb::handle given, const rank_graph& graph) {
  field_list list;
  const nb::object fields =
      nb::isinstance<nb::list>(given) ? nb::borrow(given) : nb::object(nb::make_tuple(given));
  if (nb::len(fields) == 0) fail(errc::usage, "fields: an empty list: give 1 or more fields");
  for (const nb::handle field : fields) {
    const std::size_t parts = nb::isinstance<nb::tuple>(field) ? nb::len(field) : 1;
    if (!nb::isinstance<nb::tuple>(field))
      add_array(list, field, graph);
    else if (parts == 2)
      add_pair(list, field, graph);
    else if (parts == 3)
      add_places(list, field, graph);
    else
      fail(errc::usage,
           "fields: a tuple of {} arrays; a tuple is one field, (elements, ghosts) or (array, "
           "element_places, ghost_places), and several fields are a list",
           parts);
  }
  return list;
}

}  // namespace longshore::python
