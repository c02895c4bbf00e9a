// Finds the memory, type, shape and strides of a NumPy array, checks that the library can use them,
// and makes new arrays. All functions of the package that take arrays use it.
#include "arrays.hpp"

#include <longshore/core/error.hpp>
#include <longshore/device/stream.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <string>
#include <type_traits>

namespace longshore::python {
namespace {

nb::object of_numpy(const char* name) { return nb::module_::import_("numpy").attr(name); }

std::string type_name_of(nb::handle object) {
  return nb::cast<std::string>(nb::str(object.type().attr("__name__")));
}

std::optional<element> element_named(std::string_view name) {
  for (std::size_t i = 0; i < element_names.size(); ++i)
    if (element_names[i] == name) return static_cast<element>(i);
  return std::nullopt;
}

std::optional<element> element_of(const nb::dlpack::dtype& type) {
  for (const element known : all_elements)
    if (dlpack_of(known) == type) return known;
  return std::nullopt;
}

bool holds(std::span<const element> allowed, std::optional<element> type) {
  return type && std::find(allowed.begin(), allowed.end(), *type) != allowed.end();
}

std::string names_of(std::span<const element> types) {
  std::vector<std::string_view> names;
  for (const element type : types) names.push_back(name_of(type));
  return fmt::format("{}", fmt::join(names, ", "));
}

// Throws the error for an array whose type is not allowed.
[[noreturn]] void refuse_type(const std::string& type, const char* what,
                              std::span<const element> allowed) {
  if (allowed.size() > 1)
    type_error("{}: elements of type {}: allowed are {}", what, type, names_of(allowed));
  const std::string_view wanted = name_of(allowed.front());
  type_error("{}: elements of {} are needed, got {}; array.astype('{}') makes them", what, wanted,
             type, wanted);
}

// Throws the error for an object that nanobind does not accept as an array.
[[noreturn]] void refuse(nb::handle given, const char* what, std::span<const element> allowed) {
  if (!nb::hasattr(given, "__array_interface__"))
    type_error("{}: a NumPy array of {} is needed, got {} (numpy.asarray{} makes one)", what,
               names_of(allowed), type_name_of(given),
               allowed.size() > 1 ? "" : fmt::format("(..., '{}')", name_of(allowed.front())));
  const nb::object type = given.attr("dtype");
  const auto name = nb::cast<std::string>(nb::str(type));
  if (holds(allowed, element_named(name)))
    value_error(
        "{}: the strides of the array are not multiples of the size of its elements; array.copy() "
        "has such strides",
        what);
  const auto native_name = nb::cast<std::string>(nb::str(type.attr("newbyteorder")("=")));
  if (native_name != name && holds(allowed, element_named(native_name)))
    type_error(
        "{}: the bytes of elements of {} are swapped; array.astype('{}') has the byte order of "
        "this "
        "machine",
        what, name, native_name);
  refuse_type(name, what, allowed);
}

nb::handle array_class() {
  static PyObject* known = nullptr;  // never freed; guarded by the GIL
  if (known == nullptr) known = of_numpy("ndarray").release().ptr();
  return known;
}

// Refuses masked arrays, because the library would ignore the mask.
void refuse_mask(nb::handle given, const char* what) {
  if (given.type().is(array_class()) ||
      PyObject_IsInstance(given.ptr(), array_class().ptr()) != 1 || !nb::hasattr(given, "mask"))
    return;
  type_error(
      "{}: a masked array, whose mask would be ignored; array.filled() and array.compressed() have "
      "no mask",
      what);
}

template <class Byte, class Array>
array_memory<Byte> view_of(nb::handle given, const char* what, std::span<const element> allowed) {
  refuse_mask(given, what);
  Array array;
  if (!nb::try_cast(given, array)) {
    nb::ndarray<nb::ro> readable;
    if (nb::try_cast(given, readable)) value_error("{}: the array is read-only", what);
    refuse(given, what, allowed);
  }
  const auto type = element_of(array.dtype());
  if (!holds(allowed, type) || array.device_type() != nb::device::cpu::value)
    refuse_type(nb::cast<std::string>(nb::str(nb::getattr(given, "dtype", nb::none()))), what,
                allowed);
  array_memory<Byte> memory;
  memory.data = static_cast<Byte*>(
      static_cast<std::conditional_t<std::is_const_v<Byte>, const void*, void*>>(array.data()));
  memory.type = *type;
  memory.items = 1;
  const auto item_bytes = static_cast<std::ptrdiff_t>(bytes_of(*type));
  for (std::size_t d = 0; d < array.ndim(); ++d) {
    memory.shape.push_back(array.shape(d));
    memory.strides_bytes.push_back(static_cast<std::ptrdiff_t>(array.stride(d)) * item_bytes);
    memory.items *= array.shape(d);
  }
  std::ptrdiff_t expected = item_bytes;
  for (std::size_t d = array.ndim(); d-- > 0;) {
    if (memory.shape[d] != 1 && memory.strides_bytes[d] != expected)
      memory.contiguous = memory.items == 0;  // without elements the strides have no meaning
    expected *= static_cast<std::ptrdiff_t>(memory.shape[d]);
  }
  // A complex number needs only the alignment of its two parts.
  const std::size_t alignment = is_complex(*type) ? bytes_of(*type) / 2 : bytes_of(*type);
  if (memory.items > 0 && reinterpret_cast<std::uintptr_t>(memory.data) % alignment != 0)
    value_error("{}: the array must begin at a multiple of {} bytes; array.copy() does", what,
                alignment);
  memory.owner = nb::borrow(given);
  return memory;
}

template <class Memory>
Memory require_contiguous(Memory memory, const char* what) {
  if (!memory.contiguous)
    value_error("{}: the array must be contiguous; numpy.ascontiguousarray makes such a copy",
                what);
  return memory;
}

}  // namespace

element element_of(nb::handle dtype, std::span<const element> allowed) {
  nb::object type;
  try {
    type = of_numpy("dtype")(dtype);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    type_error("dtype: {} is no type; allowed are {}", nb::cast<std::string>(nb::repr(dtype)),
               names_of(allowed));
  }
  const auto name = nb::cast<std::string>(nb::str(type));  // for example >f8 if bytes are swapped
  const auto known = element_named(name);
  if (holds(allowed, known)) return *known;
  type_error("dtype {}: allowed are {}", name, names_of(allowed));
}

nb::dlpack::dtype dlpack_of(element type) noexcept {
  const auto code = is_complex(type)    ? nb::dlpack::dtype_code::Complex
                    : is_floating(type) ? nb::dlpack::dtype_code::Float
                    : is_signed(type)   ? nb::dlpack::dtype_code::Int
                                        : nb::dlpack::dtype_code::UInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * bytes_of(type)), 1};
}

nb::object dtype_of(element type) {
  // never freed; guarded by the GIL
  static std::array<PyObject*, element_names.size()> dtypes = {};
  PyObject*& known = dtypes[static_cast<std::size_t>(type)];
  const std::string_view name = name_of(type);
  if (known == nullptr)
    known = nb::object(of_numpy("dtype")(nb::str(name.data(), name.size()))).release().ptr();
  return nb::borrow(known);
}

array_to_write array_for_writing(nb::handle array, const char* what,
                                 std::span<const element> allowed) {
  return view_of<std::byte, nb::ndarray<>>(array, what, allowed);
}
array_to_read contiguous_for_reading(nb::handle array, const char* what,
                                     std::span<const element> allowed) {
  return require_contiguous(view_of<const std::byte, nb::ndarray<nb::ro>>(array, what, allowed),
                            what);
}
array_to_write contiguous_for_writing(nb::handle array, const char* what,
                                      std::span<const element> allowed) {
  return require_contiguous(view_of<std::byte, nb::ndarray<>>(array, what, allowed), what);
}

nb::object described_array(nb::handle given, const char* what) {
  const nb::object interface =
      nb::steal(PyObject_GetAttrString(given.ptr(), "__cuda_array_interface__"));
  if (!interface.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) nb::raise_python_error();
    PyErr_Clear();
    return nb::borrow(given);
  }
  if (!detail::has_devices())
    fail(errc::unsupported,
         "{}: an array in device memory ({}), and this process has no device, or the package was "
         "built without LONGSHORE_CUDA or LONGSHORE_HIP: copy the array to the host",
         what, type_name_of(given));
  try {
    if (!interface.attr("get")("mask").is_none())
      type_error("{}: an array in device memory with a mask, which would be ignored", what);
    // NumPy before 2.4 allocates memory in place of a null pointer.
    if (interface["data"][0].equal(nb::int_(0)) && nb::bool_(of_numpy("all")(interface["shape"])))
      value_error("{}: an array in device memory without an address", what);
    const nb::object holder = nb::module_::import_("types").attr("SimpleNamespace")();
    holder.attr("__array_interface__") = interface;
    return of_numpy("asarray")(holder);
  } catch (const nb::python_error& e) {
    value_error("{}: a wrong __cuda_array_interface__ of {}: {}", what, type_name_of(given),
                nb::cast<std::string>(nb::str(e.value())));
  }
}

array_rows rows_for_writing(nb::handle given, const char* what) {
  const nb::object array = described_array(given, what);
  refuse_mask(array, what);
  if (PyObject_IsInstance(array.ptr(), array_class().ptr()) != 1)
    type_error("{}: a NumPy array is needed, got {}", what, type_name_of(array));
  const nb::object type = array.attr("dtype");
  const auto name = nb::cast<std::string>(nb::str(type));
  const auto item_bytes = nb::cast<std::size_t>(type.attr("itemsize"));
  array_rows found;
  found.type = element_named(name);
  const bool is_structured = nb::cast<std::string>(type.attr("kind")) == "V";
  if (!found.type && !is_structured) refuse(array, what, all_elements);
  if (nb::cast<bool>(type.attr("hasobject")))
    type_error("{}: elements of {} hold Python objects", what, name);
  if (!nb::cast<bool>(array.attr("flags").attr("writeable")))
    value_error("{}: the array is read-only", what);
  const nb::object shape = array.attr("shape"), strides = array.attr("strides");
  if (nb::len(shape) == 0)
    value_error("{}: an array with an axis for the elements is needed", what);
  found.rows = nb::cast<std::size_t>(shape[0]);
  for (std::size_t axis = nb::len(shape); axis-- > 1;) {
    const auto extent = nb::cast<std::size_t>(shape[axis]);
    if (extent != 1 && found.rows > 0 &&
        nb::cast<std::ptrdiff_t>(strides[axis]) !=
            static_cast<std::ptrdiff_t>(found.numbers * item_bytes))
      value_error("{}: the rows of the array must be contiguous; array.copy() has such rows", what);
    found.numbers *= extent;
  }
  found.row_bytes = found.numbers * item_bytes;
  if (found.row_bytes == 0) value_error("{}: the rows of the array are empty", what);
  found.stride_bytes = found.rows > 1 ? nb::cast<std::ptrdiff_t>(strides[0])
                                      : static_cast<std::ptrdiff_t>(found.row_bytes);
  const auto address = nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data"));
  const auto alignment = found.type ? nb::cast<std::size_t>(type.attr("alignment")) : 1;
  if (found.rows > 0 && (address % alignment != 0 ||
                         found.stride_bytes % static_cast<std::ptrdiff_t>(alignment) != 0))
    value_error(
        "{}: numbers of {} must lie at multiples of {} bytes; a structured type made with "
        "align=True "
        "has such numbers",
        what, name, alignment);
  found.data = reinterpret_cast<std::byte*>(address);
  return found;
}

nb::capsule owner_of(std::unique_ptr<shareable_memory> memory) {
  return nb::capsule(memory.release(),
                     [](void* owned) noexcept { delete static_cast<shareable_memory*>(owned); });
}

nb::object new_array(const std::vector<std::size_t>& shape, element type) {
  static PyObject* empty = nullptr;  // never freed; guarded by the GIL
  if (empty == nullptr) empty = of_numpy("empty").release().ptr();
  const auto dtype = dtype_of(type);
  if (shape.size() == 1) return nb::handle(empty)(shape[0], dtype);
  nb::list sizes;
  for (const std::size_t size : shape) sizes.append(size);
  return nb::handle(empty)(nb::tuple(sizes), dtype);
}

nb::object array_over(void* data, const std::vector<std::size_t>& shape, element type,
                      nb::handle owner, const std::vector<std::ptrdiff_t>& strides_bytes) {
  std::vector<std::int64_t> strides;
  for (const std::ptrdiff_t stride : strides_bytes)
    strides.push_back(stride / static_cast<std::ptrdiff_t>(bytes_of(type)));
  nb::object array =
      nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner,
                                      strides.empty() ? nullptr : strides.data(), dlpack_of(type)),
               nb::rv_policy::reference);
  // For nanobind 64-bit integers are long long, which NumPy prints differently from int64.
  return type == element::int64 || type == element::uint64 ? array.attr("view")(dtype_of(type))
                                                           : array;
}

}  // namespace longshore::python
