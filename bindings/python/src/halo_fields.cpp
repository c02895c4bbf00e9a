// Reads the fields of a Halo, and finds the fields that a call names.
#include "halo_fields.hpp"

#include "per_dimension.hpp"
#include "python_number.hpp"

#include <longshore/core/error.hpp>
#include <longshore/exchange/runtime_types.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace longshore::python {
namespace {

struct widths {
  std::vector<int> low, high;
};

widths widths_from(nb::handle width, std::size_t dimensions) {
  std::vector<nb::object> sides(dimensions, nb::borrow(width));
  if (is_sequence(width)) {
    if (nb::len(width) != dimensions)
      fail(errc::usage,
           "width: {} values for {} dimensions; give one for all, one for each, or (low, high) for "
           "each",
           nb::len(width), dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) sides[d] = width[d];
  }
  widths found;
  for (const nb::object& side : sides) {
    const bool pair = is_sequence(side);
    if (pair && nb::len(side) != 2)
      fail(errc::usage, "width: {} values for one dimension; give (low, high)", nb::len(side));
    found.low.push_back(count_of(pair ? nb::object(side[0]) : side, "width"));
    found.high.push_back(count_of(pair ? nb::object(side[1]) : side, "width"));
  }
  return found;
}

// Calls set(field, value): for all fields with the same value, or for the fields of a dict with
// their values.
template <class Set>
void for_each_field(std::vector<halo_field>& fields, nb::handle given, const Set& set) {
  if (nb::isinstance<nb::dict>(given)) {
    for (const auto [key, value] : nb::borrow<nb::dict>(given))
      set(fields[checked_number_of(fields, key)], value);
    return;
  }
  for (halo_field& field : fields) set(field, given);
}

void check_count(std::int64_t count) {
  if (count < 1 || count > max_fields_of_halo)
    fail(errc::usage, "{} fields: 1 to {}", count, max_fields_of_halo);
}

std::vector<element> types_of(nb::handle dtype, std::size_t count) {
  if (!nb::isinstance<nb::list>(dtype) && !nb::isinstance<nb::tuple>(dtype))
    return std::vector<element>(count, element_of(dtype));
  if (nb::len(dtype) != count)
    fail(errc::usage, "dtype: {} types for {} fields", nb::len(dtype), count);
  std::vector<element> types;
  for (const nb::handle type : dtype) types.push_back(element_of(type));
  return types;
}

bool is_type(nb::handle value) {
  return PyUnicode_Check(value.ptr()) != 0 || PyType_Check(value.ptr()) != 0 ||
         nb::isinstance(value, nb::module_::import_("numpy").attr("dtype"));
}

std::vector<halo_field> fields_of_dict(const nb::dict& given) {
  std::vector<halo_field> fields;
  for (const auto [key, value] : given) {
    std::string name;
    if (!nb::try_cast(key, name) || name.empty())
      throw nb::type_error("fields: the keys of a dict are names of fields");
    halo_field& field = fields.emplace_back(halo_field{.name = std::move(name)});
    if (is_type(value))
      field.type = element_of(value);
    else
      field.array = nb::borrow(value);
  }
  return fields;
}

std::vector<halo_field> fields_without_layers(nb::handle given, nb::handle dtype) {
  std::vector<halo_field> fields;
  if (const nb::object number = plain_number(given); PyLong_Check(number.ptr())) {
    const std::int64_t count = whole_number(number, "fields");
    check_count(count);
    for (const element type : types_of(dtype, static_cast<std::size_t>(count)))
      fields.push_back({.type = type});
    return fields;
  }
  if (nb::isinstance<nb::dict>(given)) {
    fields = fields_of_dict(nb::borrow<nb::dict>(given));
  } else if (nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given)) {
    for (const nb::handle array : given) fields.push_back({.array = nb::borrow(array)});
  } else {
    fields.push_back({.array = nb::borrow(given)});
  }
  check_count(static_cast<std::int64_t>(fields.size()));
  return fields;
}

field_memory memory_at(std::byte* data, const halo_field& of, const shape_list& cells,
                       const std::vector<std::ptrdiff_t>& strides) {
  field_memory field;
  field.first = data;
  field.element_bytes = bytes_of(of.type);
  static_assert(static_cast<int>(element::complex128) ==
                static_cast<int>(detail::number_type::complex128));
  field.type = &detail::element_type_of_number(static_cast<detail::number_type>(of.type));
  field.extents = {1, 1, 1};
  field.strides_bytes.fill(static_cast<std::ptrdiff_t>(field.element_bytes));
  const shape_list interior = of.layers.interior(cells);
  const std::size_t dimensions = cells.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t axis = dimensions - 1 - d;
    field.extents[axis] = interior[d];
    field.strides_bytes[axis] = strides[d];
    field.widths.low[axis] = of.layers.low[d];
    field.widths.high[axis] = of.layers.high[d];
    field.shared[axis] = of.layers.shared[d];
    field.first += of.layers.low[d] * strides[d];
  }
  return field;
}

shape_list shape_with_halo(const halo_field& field, const shape_list& cells) {
  shape_list shape = field.layers.interior(cells);
  for (std::size_t d = 0; d < shape.size(); ++d)
    shape[d] += static_cast<std::size_t>(field.layers.low[d]) +
                static_cast<std::size_t>(field.layers.high[d]);
  return shape;
}

field_memory new_memory(halo_field& field, const shape_list& cells, const team& ranks) {
  const shape_list shape = shape_with_halo(field, cells);
  const std::size_t item_bytes = bytes_of(field.type);
  std::size_t items = 1;
  for (const std::size_t extent : shape)
    if (__builtin_mul_overflow(items, extent, &items) || items > PTRDIFF_MAX / item_bytes)
      fail(errc::out_of_memory,
           "a field of {} cells with its halo is larger than the address space",
           fmt::format("{}", fmt::join(shape, " x ")));
  auto memory = std::make_unique<shareable_memory>(ranks, items * item_bytes);
  std::vector<std::ptrdiff_t> strides(shape.size());
  auto stride = static_cast<std::ptrdiff_t>(item_bytes);
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  std::byte* const data = memory->data();
  field_memory found = memory_at(data, field, cells, strides);
  found.set_memory(*memory);
  field.array = array_over(data, shape, field.type, owner_of(std::move(memory)));
  return found;
}

}  // namespace

shape_list field_layers::interior(const shape_list& cells) const {
  shape_list extents = cells;
  for (std::size_t d = 0; d < extents.size(); ++d)
    extents[d] += static_cast<std::size_t>(shared[d]);
  return extents;
}

std::vector<halo_field> halo_fields_from(nb::handle fields, nb::handle dtype, nb::handle width,
                                         nb::handle shared, std::size_t dimensions) {
  std::vector<halo_field> found = fields_without_layers(fields, dtype);
  const std::vector<int> ones(dimensions, 1), zeros(dimensions, 0);
  for (halo_field& field : found) field.layers = {ones, ones, zeros};  // the defaults of Halo
  for_each_field(found, width, [&](halo_field& field, nb::handle value) {
    auto [low, high] = widths_from(value, dimensions);
    field.layers.low = std::move(low), field.layers.high = std::move(high);
  });
  for_each_field(found, shared, [&](halo_field& field, nb::handle value) {
    field.layers.shared = per_dimension(value, dimensions, "shared", count_of);
  });
  return found;
}

field_memory add_memory(halo_field& field, const shape_list& cells, const team& ranks) {
  if (!field.array.is_valid()) return new_memory(field, cells, ranks);
  const auto memory = array_for_writing(field.array, "fields");
  const shape_list shape = shape_with_halo(field, cells);
  if (memory.shape != shape)
    fail(errc::usage,
         "fields: an array of shape ({}); the block of rank {} with its halo has shape ({})",
         fmt::format("{}", fmt::join(memory.shape, ", ")), ranks.rank(),
         fmt::format("{}", fmt::join(shape, ", ")));
  field.type = memory.type;
  return memory_at(memory.data, field, cells, memory.strides_bytes);
}

int number_of(std::span<const halo_field> fields, nb::handle given) {
  const auto at = [&](auto found) { return static_cast<int>(found - fields.begin()); };
  if (std::string name; nb::try_cast(given, name)) {
    const auto named =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
    if (named != fields.end()) return at(named);
    std::vector<std::string> names;
    for (const halo_field& field : fields)
      if (!field.name.empty()) names.push_back(field.name);
    if (names.empty())
      fail(errc::usage,
           "no field is named '{}': fields have names if Halo gets them as a dict, such as "
           "fields={{'{}': 'float64'}}",
           name, name);
    fail(errc::usage, "no field is named '{}': the fields are {}", name,
         fmt::format("{}", fmt::join(names, ", ")));
  }
  const auto array =
      std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.array.is(given); });
  if (array != fields.end()) return at(array);
  const nb::object number = plain_number(given);
  if (PyLong_Check(number.ptr()) == 0)
    fail(errc::usage,
         "an object of type {} is not one of the {} fields of the halo: give arrays of "
         "halo.fields, numbers or names",
         nb::cast<std::string>(nb::str(given.type().attr("__name__"))), fields.size());
  return static_cast<int>(whole_number(number, "fields", std::numeric_limits<int>::min(),
                                       std::numeric_limits<int>::max()));
}

std::size_t checked_number_of(std::span<const halo_field> fields, nb::handle given) {
  const int number = number_of(fields, given);
  if (number < 0 || static_cast<std::size_t>(number) >= fields.size())
    fail(errc::usage, "field {}: the halo has the fields 0 to {}", number, fields.size() - 1);
  return static_cast<std::size_t>(number);
}

halo_part part_from(std::span<const halo_field> fields, nb::handle arrays, nb::handle given,
                    nb::handle width) {
  halo_part part;
  for (const nb::handle array : arrays) part.fields.push_back(number_of(fields, array));
  if (nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given))
    for (const nb::handle field : given) part.fields.push_back(number_of(fields, field));
  else
    part.fields.push_back(number_of(fields, given));
  // The plan keeps each part that it has met. All orders of the same fields are one part.
  std::sort(part.fields.begin(), part.fields.end());
  part.fields.erase(std::unique(part.fields.begin(), part.fields.end()), part.fields.end());
  if (part.fields.size() == fields.size() && part.fields.front() == 0 &&
      part.fields.back() + 1 == static_cast<int>(fields.size()))
    part.fields.clear();
  if (!width.is_none()) {
    const std::size_t dimensions = fields.front().layers.low.size();
    const auto [low, high] = widths_from(width, dimensions);
    halo_widths& widths = part.width.emplace(0);
    for (std::size_t d = 0; d < dimensions; ++d) {
      widths.low[dimensions - 1 - d] = low[d];
      widths.high[dimensions - 1 - d] = high[d];
    }
  }
  return part;
}

std::vector<element_content> contents_of(std::span<const halo_field> fields,
                                         const halo_part& part) {
  std::vector<element_content> contents;
  const auto add = [&](const halo_field& field) {
    contents.push_back({field.type, 1, bytes_of(field.type)});
  };
  if (part.fields.empty())
    for (const halo_field& field : fields) add(field);
  for (const int number : part.fields)
    if (number >= 0 && static_cast<std::size_t>(number) < fields.size())
      add(fields[static_cast<std::size_t>(number)]);
  return contents;
}

}  // namespace longshore::python
