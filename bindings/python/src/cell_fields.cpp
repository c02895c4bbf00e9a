// Reads the fields of a Halo or of Boxes, and finds the fields that a call names.
#include "cell_fields.hpp"

#include "per_dimension.hpp"
#include "python_number.hpp"

#include <longshore/core/bytes.hpp>
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

struct side_widths {
  std::vector<int> low, high;
};

side_widths side_widths_from(nb::handle width, std::size_t dimensions) {
  std::vector<nb::object> sides(dimensions, nb::borrow(width));
  if (is_sequence(width)) {
    if (nb::len(width) != dimensions)
      fail(errc::usage,
           "width: {} values for {} dimensions; give one for all, one for each, or (low, high) for "
           "each",
           nb::len(width), dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) sides[d] = width[d];
  }
  side_widths found;
  for (const nb::object& side : sides) {
    const bool pair = is_sequence(side);
    if (pair && nb::len(side) != 2)
      fail(errc::usage, "width: {} values for one dimension; give (low, high)", nb::len(side));
    found.low.push_back(count_of(pair ? nb::object(side[0]) : side, "width"));
    found.high.push_back(count_of(pair ? nb::object(side[1]) : side, "width"));
  }
  return found;
}

std::array<int, 3> reversed(const std::vector<int>& numbers) {
  std::array<int, 3> found{};
  std::copy(numbers.rbegin(), numbers.rend(), found.begin());
  return found;
}

// Calls set(field, value) for all fields with one value, or for each field of a dict with its
// value.
template <class Set>
void for_each_field(std::vector<cell_field>& fields, nb::handle given, const Set& set) {
  if (nb::isinstance<nb::dict>(given)) {
    for (const auto [key, value] : nb::borrow<nb::dict>(given))
      set(fields[checked_index_of(fields, key)], value);
    return;
  }
  for (cell_field& field : fields) set(field, given);
}

void check_count(std::int64_t count) {
  if (count < 1 || count > max_fields_of_plan)
    fail(errc::usage, "{} fields: 1 to {}", count, max_fields_of_plan);
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

std::vector<cell_field> fields_of_dict(const nb::dict& given) {
  std::vector<cell_field> fields;
  for (const auto [key, value] : given) {
    std::string name;
    if (!nb::try_cast(key, name) || name.empty())
      throw nb::type_error("fields: the keys of a dict are names of fields");
    cell_field& field = fields.emplace_back(cell_field{.name = std::move(name)});
    if (is_type(value))
      field.type = element_of(value);
    else
      field.arrays = nb::borrow(value);
  }
  return fields;
}

std::vector<cell_field> fields_without_layers(nb::handle given, nb::handle dtype) {
  std::vector<cell_field> fields;
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
    for (const nb::handle array : given) fields.push_back({.arrays = nb::borrow(array)});
  } else {
    fields.push_back({.arrays = nb::borrow(given)});
  }
  check_count(static_cast<std::int64_t>(fields.size()));
  return fields;
}

field_memory memory_at(std::byte* data, const cell_field& of, const shape_list& cells,
                       const std::vector<std::ptrdiff_t>& strides) {
  field_memory field;
  field.first = data;
  field.element_bytes = bytes_of(of.type);
  field.type = &detail::element_type_of_number(of.type);
  field.extents = {1, 1, 1};
  field.strides_bytes.fill(static_cast<std::ptrdiff_t>(field.element_bytes));
  field.widths = of.layers.widths_of_cpp();
  field.shared = of.layers.shared_of_cpp();
  const shape_list interior = of.layers.interior(cells);
  const std::size_t dimensions = cells.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t axis = dimensions - 1 - d;
    field.extents[axis] = interior[d];
    field.strides_bytes[axis] = strides[d];
    field.first += of.layers.low[d] * strides[d];
  }
  return field;
}

shape_list shape_with_halo(const cell_field& field, const shape_list& cells) {
  shape_list shape = field.layers.interior(cells);
  for (std::size_t d = 0; d < shape.size(); ++d)
    shape[d] += static_cast<std::size_t>(field.layers.low[d]) +
                static_cast<std::size_t>(field.layers.high[d]);
  return shape;
}

// Throws errc::out_of_memory if the array does not fit the address space.
std::size_t bytes_of_array(const shape_list& shape, element type) {
  std::size_t bytes = bytes_of(type);
  for (const std::size_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > PTRDIFF_MAX)
      fail(errc::out_of_memory,
           "a field of {} cells with its halo is larger than the address space",
           fmt::format("{}", fmt::join(shape, " x ")));
  return bytes;
}

}  // namespace

shape_list field_layers::interior(const shape_list& cells) const {
  shape_list extents = cells;
  for (std::size_t d = 0; d < extents.size(); ++d)
    extents[d] += static_cast<std::size_t>(shared[d]);
  return extents;
}

halo_widths field_layers::widths_of_cpp() const { return {reversed(low), reversed(high)}; }
std::array<int, 3> field_layers::shared_of_cpp() const { return reversed(shared); }

std::vector<cell_field> cell_fields_from(nb::handle fields, nb::handle dtype, nb::handle width,
                                         nb::handle shared, std::size_t dimensions) {
  std::vector<cell_field> found = fields_without_layers(fields, dtype);
  const std::vector<int> ones(dimensions, 1), zeros(dimensions, 0);
  for (cell_field& field : found) field.layers = {ones, ones, zeros};  // the defaults
  for_each_field(found, width, [&](cell_field& field, nb::handle value) {
    auto [low, high] = side_widths_from(value, dimensions);
    field.layers.low = std::move(low), field.layers.high = std::move(high);
  });
  for_each_field(found, shared, [&](cell_field& field, nb::handle value) {
    field.layers.shared = per_dimension(value, dimensions, "shared", count_of);
  });
  return found;
}

halo_widths widths_from(nb::handle width, std::size_t dimensions) {
  const auto [low, high] = side_widths_from(width, dimensions);
  return {reversed(low), reversed(high)};
}

std::vector<field_block> new_blocks(const cell_field& field, std::span<const shape_list> cells,
                                    const team& ranks) {
  std::vector<std::size_t> begins;
  std::size_t bytes = 0;
  for (const shape_list& block : cells) {
    begins.push_back(bytes);
    bytes = round_up(bytes + bytes_of_array(shape_with_halo(field, block), field.type),
                     cache_line_bytes);
    if (bytes > PTRDIFF_MAX)
      fail(errc::out_of_memory, "the blocks of a field are larger than the address space");
  }
  auto made = std::make_unique<shareable_memory>(ranks, std::max<std::size_t>(bytes, 1));
  shareable_memory& memory = *made;
  const nb::capsule owner = owner_of(std::move(made));
  std::vector<field_block> blocks;
  for (std::size_t b = 0; b < cells.size(); ++b) {
    const shape_list shape = shape_with_halo(field, cells[b]);
    std::vector<std::ptrdiff_t> strides(shape.size());
    auto stride = static_cast<std::ptrdiff_t>(bytes_of(field.type));
    for (std::size_t d = shape.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= static_cast<std::ptrdiff_t>(shape[d]);
    }
    std::byte* const data = memory.data() + begins[b];
    blocks.push_back(
        {array_over(data, shape, field.type, owner), memory_at(data, field, cells[b], strides)});
    blocks.back().memory.set_memory(memory);
  }
  return blocks;
}

field_memory memory_of(nb::handle array, cell_field& field, const shape_list& cells,
                       std::string_view block) {
  const auto memory = array_for_writing(described_array(array, "fields"), "fields");
  const shape_list shape = shape_with_halo(field, cells);
  if (memory.shape != shape)
    fail(errc::usage, "fields: an array of shape ({}); {} with its halo has shape ({})",
         fmt::format("{}", fmt::join(memory.shape, ", ")), block,
         fmt::format("{}", fmt::join(shape, ", ")));
  field.type = memory.type;
  return memory_at(memory.data, field, cells, memory.strides_bytes);
}

int index_of(std::span<const cell_field> fields, nb::handle given) {
  const auto at = [&](auto found) { return static_cast<int>(found - fields.begin()); };
  if (std::string name; nb::try_cast(given, name)) {
    const auto named =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
    if (named != fields.end()) return at(named);
    std::vector<std::string> names;
    for (const cell_field& field : fields)
      if (!field.name.empty()) names.push_back(field.name);
    if (names.empty())
      fail(errc::usage,
           "no field is named '{}': fields have names if they are given as a dict, such as "
           "fields={{'{}': 'float64'}}",
           name, name);
    fail(errc::usage, "no field is named '{}': the fields are {}", name,
         fmt::format("{}", fmt::join(names, ", ")));
  }
  const auto same =
      std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.arrays.is(given); });
  if (same != fields.end()) return at(same);
  const nb::object number = plain_number(given);
  if (PyLong_Check(number.ptr()) == 0)
    fail(errc::usage,
         "an object of type {} is not one of the {} fields: give elements of .fields, numbers or "
         "names",
         nb::cast<std::string>(nb::str(given.type().attr("__name__"))), fields.size());
  return static_cast<int>(whole_number(number, "fields", std::numeric_limits<int>::min(),
                                       std::numeric_limits<int>::max()));
}

std::size_t checked_index_of(std::span<const cell_field> fields, nb::handle given) {
  const int index = index_of(fields, given);
  if (index < 0 || static_cast<std::size_t>(index) >= fields.size())
    fail(errc::usage, "field {}: there are the fields 0 to {}", index, fields.size() - 1);
  return static_cast<std::size_t>(index);
}

bool have_same_layers(std::span<const cell_field> fields) {
  return std::all_of(fields.begin(), fields.end(), [&](const cell_field& field) {
    return field.layers == fields.front().layers;
  });
}

const field_layers& layers_of_all(std::span<const cell_field> fields, const char* what) {
  if (!have_same_layers(fields))
    fail(errc::usage,
         "{}: the fields have different widths or shared layers; {}_of(field) gives the slices of "
         "one",
         what, what);
  return fields.front().layers;
}

std::vector<element_content> contents_of(std::span<const cell_field> fields) {
  std::vector<element_content> contents;
  for (const cell_field& field : fields) contents.push_back({field.type, 1, bytes_of(field.type)});
  return contents;
}

std::string text_of(const field_layers& layers) {
  const auto& [low, high, shared] = layers;
  const bool are_equal = std::equal(low.begin() + 1, low.end(), low.begin());
  std::string text = low == high && are_equal ? fmt::format("halo {}", low[0])
                                              : fmt::format("halo ({}), ({})", fmt::join(low, ", "),
                                                            fmt::join(high, ", "));
  if (std::any_of(shared.begin(), shared.end(), [](int count) { return count != 0; }))
    text += fmt::format(", shared ({})", fmt::join(shared, ", "));
  return text;
}

std::string text_of(std::span<const cell_field> fields) {
  const bool is_same = have_same_layers(fields);
  std::vector<std::string> texts;
  for (const cell_field& field : fields)
    texts.push_back(fmt::format("{}{}{}{}", field.name, field.name.empty() ? "" : ": ",
                                name_of(field.type),
                                is_same ? "" : fmt::format(" with {}", text_of(field.layers))));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace longshore::python
