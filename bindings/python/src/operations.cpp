// Finds the loop for the name of an operation. A function of NumPy is called by its method `at`, on
// arrays over the memory of a batch.
#include "operations.hpp"

#include "gil.hpp"
#include "python_reference.hpp"

#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace longshore::python {

element real_type_of(element type) {
  if (type == element::complex64) return element::float32;
  if (type == element::complex128) return element::float64;
  return type;
}

namespace {

struct numpy_function {
  element type;
  std::size_t element_bytes;
  first_error* errors;
  python_reference at;  // numpy.ufunc.at of the function
};

// The elements of one side of a batch.
struct batch_side {
  const std::byte* first;
  std::ptrdiff_t stride_bytes;
  const std::uint32_t* index;  // null if element i has number i
};

// Returns an array over the memory of the first elements: row i is element i.
nb::object rows_of(const batch_side& side, std::size_t elements, const numpy_function& by) {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(elements - 1) * side.stride_bytes;
  const std::ptrdiff_t lowest = std::min<std::ptrdiff_t>(0, last);
  const nb::object bytes = array_over(const_cast<std::byte*>(side.first) + lowest,
                                      {static_cast<std::size_t>(std::abs(last)) + by.element_bytes},
                                      element::uint8, nb::none());
  return nb::module_::import_("numpy").attr("ndarray")(
      nb::make_tuple(elements, by.element_bytes / bytes_of(by.type)), dtype_of(by.type), bytes,
      -lowest, nb::make_tuple(side.stride_bytes, bytes_of(by.type)));
}

nb::object indices_of(const batch_side& side, std::size_t count) {
  const nb::object indices = new_array({count}, element::int64);
  auto* const index =
      reinterpret_cast<std::int64_t*>(contiguous_for_writing(indices, "indices").data);
  for (std::size_t i = 0; i < count; ++i)
    index[i] = static_cast<std::int64_t>(side.index == nullptr ? i : side.index[i]);
  return indices;
}

std::size_t elements_of(const batch_side& side, std::size_t count) {
  return side.index == nullptr ? count
                               : std::size_t{1} + *std::max_element(side.index, side.index + count);
}

// Calls function.at(elements, indices, values).
void call_numpy(const void* state, const detail::element_batch& batch) {
  const auto& by = *static_cast<const numpy_function*>(state);
  if (by.errors->exists() || batch.count == 0) return;
  const acquire_gil locked;
  try {
    const batch_side to{batch.to, batch.to_stride_bytes, batch.to_index};
    const batch_side from{batch.from, batch.from_stride_bytes, batch.from_index};
    // A selection of rows is a copy, whose numbers are aligned.
    const nb::object values =
        rows_of(from, elements_of(from, batch.count), by)[indices_of(from, batch.count)];
    by.at.object()(rows_of(to, elements_of(to, batch.count), by), indices_of(to, batch.count),
                   values);
  } catch (...) {
    by.errors->keep(std::current_exception());
  }
}

struct named_op {
  std::string_view name;
  combine_op op;
};
const std::array<named_op, 8>& named_ops() {
  static const std::array<named_op, 8> ops = {{{"add", op::add{}},
                                               {"minimum", op::min{}},
                                               {"maximum", op::max{}},
                                               {"bitwise_or", op::bit_or{}},
                                               {"sum", op::add{}},
                                               {"min", op::min{}},
                                               {"max", op::max{}},
                                               {"or", op::bit_or{}}}};
  return ops;
}

combine_op op_for(const element_content& field, std::string_view name, const combine_op& op) {
  if (is_complex(*field.type) && name != "add" && name != "sum")
    fail(errc::usage, "operation {} on {}: complex numbers have add only", name,
         name_of(*field.type));
  const element type = real_type_of(*field.type);
  if (op.loop_for(detail::element_type_of_number(type)) == nullptr)
    fail(errc::usage, "operation {} on {}: bitwise operations need integers", name,
         name_of(*field.type));
  return field.numbers == 1 ? op : detail::op_for_items(op, type, field.numbers);
}

bool is_numpy_function(nb::handle given) {
  const nb::object type = nb::module_::import_("numpy").attr("ufunc");
  return PyObject_IsInstance(given.ptr(), type.ptr()) == 1 &&
         nb::cast<int>(given.attr("nin")) == 2 && nb::cast<int>(given.attr("nout")) == 1;
}

}  // namespace

std::vector<combine_op> ops_from(nb::handle given, std::span<const element_content> fields,
                                 first_error& errors) {
  const bool has_name = PyCallable_Check(given.ptr()) != 0 && nb::hasattr(given, "__name__");
  const auto name = nb::cast<std::string>(
      nb::str(has_name ? nb::object(given.attr("__name__")) : nb::borrow(given)));
  const auto* const known = std::find_if(named_ops().begin(), named_ops().end(),
                                         [&](const named_op& op) { return op.name == name; });
  const bool is_named = known != named_ops().end();
  if (!is_named && !is_numpy_function(given))
    fail(errc::usage,
         "operation '{}': allowed are add, minimum, maximum, bitwise_or, or a function of NumPy of "
         "two numbers, such as numpy.multiply",
         name);
  std::vector<combine_op> ops;
  for (const element_content& field : fields) {
    if (!field.type)
      throw nb::type_error(
          "elements of a structured type have no operations; give its parts as fields, such as "
          "array['name']");
    ops.push_back(is_named ? op_for(field, name, known->op)
                           : combine_op::of_batches(
                                 &call_numpy, std::make_shared<const numpy_function>(numpy_function{
                                                  *field.type, field.bytes, &errors,
                                                  python_reference(given.attr("at"))})));
  }
  return ops;
}

}  // namespace longshore::python
