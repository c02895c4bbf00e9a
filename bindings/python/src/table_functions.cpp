// The class Table of Python, and gather, scatter, update and histogram: checks arrays and options,
// and runs the operation of table.hpp without the GIL, between two barriers.
#include "module.hpp"

#include "gil.hpp"
#include "kept_text.hpp"
#include "python_number.hpp"
#include "rank_team.hpp"
#include "read_on_all_ranks.hpp"
#include "table.hpp"

#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace longshore::python {
namespace {

using namespace nb::literals;

/// The class Table.
struct rank_table {
  collective_handle<table> array;
  element type;
  std::string distribution;
  std::optional<std::int64_t> block_items;
  std::string last_strategy;  ///< the strategy of the last operation
};

table_distribution distribution_of(std::string_view name, std::optional<std::int64_t> block_items) {
  if (name != "block" && name != "cyclic" && name != "block-cyclic")
    fail(errc::usage, "distribution '{}': allowed are block, cyclic, block-cyclic", name);
  if (block_items.has_value() != (name == "block-cyclic"))
    fail(errc::usage,
         "block_items is the block size of distribution 'block-cyclic': give both or neither");
  if (block_items.value_or(1) < 1)
    fail(errc::usage, "block_items {}: blocks need at least 1 element", *block_items);
  table_distribution where;
  where.block_items = name == "block" ? 0 : static_cast<std::uint64_t>(block_items.value_or(1));
  return where;
}

std::shared_ptr<table> make(team& ranks, std::int64_t size, element type,
                            table_distribution where) {
  const auto elements = static_cast<std::size_t>(size);
  return bytes_of(type) <= 2 ? make_narrow_table(ranks, elements, type, where)
                             : make_wide_table(ranks, elements, type, where);
}

void make_table(rank_table* self, nb::handle team, std::int64_t size, nb::handle dtype,
                std::string distribution, std::optional<std::int64_t> block_items) {
  const rank_team mine = team_or_world(team);
  element type{};
  table_distribution where;
  auto& ranks = mine.ranks();
  read_on_all_ranks(ranks, "Table", [&] {
    type = element_of(dtype, real_elements);
    where = distribution_of(distribution, block_items);
    if (size < 0) fail(errc::usage, "a table of {} elements: 0 or more", size);
  });
  std::shared_ptr<table> made;
  {
    const release_gil unlocked;
    mine.owner->free_dropped();
    made = make(ranks, size, type, where);
  }
  mine.owner->keep(made);
  new (self)
      rank_table{{mine.owner, std::move(made)}, type, std::move(distribution), block_items, ""};
}

array_to_read indices_given(nb::handle indices) {
  return contiguous_for_reading(indices, "indices", std::array{element::int64});
}

std::span<const std::int64_t> indices_in(const array_to_read& array) {
  return {reinterpret_cast<const std::int64_t*>(array.data), array.items};
}

plan_key key_of(std::string_view strategy, std::int64_t buffer_items, int hops, bool combine) {
  if (buffer_items < 0) fail(errc::usage, "buffer_items {}: at least 0", buffer_items);
  return {from_name<gather_strategy>(strategy), static_cast<std::size_t>(buffer_items), hops,
          combine, operation::sum};
}

// Reads the arguments of a call with read(), which returns the key of the plan. Runs an operation
// with that key between two barriers. Before the first barrier, the ranks compare their options. If
// one rank has an error, all ranks throw. The first barrier makes the stored data of all ranks
// visible. The second barrier also runs if the indices of this rank were refused, because peers
// wait there.
template <class Read, class Operation>
gather_strategy between_barriers(team& ranks, bool barriers, const char* what, const Read& read,
                                 const Operation& operation) {
  plan_key key;
  const std::exception_ptr refused = error_of([&] { key = read(); });
  if (refused && !barriers) std::rethrow_exception(refused);
  const release_gil unlocked;
  if (!barriers) return operation(key);
  common_arguments same;
  same.add("strategy", name_of(key.strategy))
      .add("buffer_items", key.buffer_items)
      .add("hops", key.hops)
      .add("combine", key.combine)
      .add("function", bindings::word_operation{key.update}.name());
  agree_on_read(ranks, what, same, refused);
  ranks.barrier();
  try {
    const gather_strategy used = operation(key);
    ranks.barrier();
    return used;
  } catch (const error& e) {
    if (e.code() == errc::usage || (e.code() == errc::peer_failed && ranks.size() > 1))
      ranks.barrier();
    throw;
  }
}

nb::object gather(rank_table& self, nb::handle indices, nb::object out, std::string_view strategy,
                  std::int64_t buffer_items, int hops, bool combine, bool barrier) {
  team& ranks = self.array.owner().ranks();
  std::span<const std::int64_t> wanted;
  array_to_write to;
  const auto read = [&] {
    const auto index_array = indices_given(indices);
    wanted = indices_in(index_array);
    if (out.is_none()) out = new_array(index_array.shape, self.type);
    to = contiguous_for_writing(out, "out", std::array{self.type});
    if (to.items != wanted.size())
      fail(errc::usage, "gather: {} indices, but {} elements in out: both numbers must be the same",
           wanted.size(), to.items);
    if (to.data < index_array.data + index_array.bytes() && index_array.data < to.data + to.bytes())
      fail(errc::usage,
           "gather: out overlaps the indices, which are read while it is written: give it other "
           "memory");
    return key_of(strategy, buffer_items, hops, combine);
  };
  self.last_strategy =
      name_of(between_barriers(ranks, barrier, "gather", read, [&](const plan_key& key) {
        return self.array->gather(key, wanted, to.data);
      }));
  return out;
}

void scatter(rank_table& self, nb::handle indices, nb::handle values, std::string_view strategy,
             std::int64_t buffer_items, int hops, bool combine, bool barrier) {
  team& ranks = self.array.owner().ranks();
  std::span<const std::int64_t> wanted;
  array_to_read from;
  const auto read = [&] {
    wanted = indices_in(indices_given(indices));
    from = contiguous_for_reading(values, "values", std::array{self.type});
    if (from.items != wanted.size())
      fail(errc::usage, "scatter: {} indices, but {} values: both numbers must be the same",
           wanted.size(), from.items);
    return key_of(strategy, buffer_items, hops, combine);
  };
  self.last_strategy =
      name_of(between_barriers(ranks, barrier, "scatter", read, [&](const plan_key& key) {
        return self.array->scatter(key, wanted, from.data);
      }));
}

// The operations of update, under their names in NumPy and in allreduce.
constexpr std::array<std::pair<std::string_view, operation>, 9> operations = {
    {{"add", operation::sum},
     {"minimum", operation::min},
     {"maximum", operation::max},
     {"bitwise_xor", operation::bit_xor},
     {"bitwise_or", operation::bit_or},
     {"bitwise_and", operation::bit_and},
     {"sum", operation::sum},
     {"min", operation::min},
     {"max", operation::max}}};

operation operation_of(nb::handle given, element type) {
  const bool is_function = PyCallable_Check(given.ptr()) != 0 && nb::hasattr(given, "__name__");
  const auto name = nb::cast<std::string>(
      nb::str(is_function ? nb::object(given.attr("__name__")) : nb::borrow(given)));
  for (const auto& [known, how] : operations) {
    if (known != name) continue;
    if (bindings::needs_integers(how) && is_floating(type))
      fail(errc::usage, "update by {} in a table of {}: bitwise operations need integers", name,
           name_of(type));
    return how;
  }
  fail(errc::usage,
       "update by '{}': allowed are add, minimum, maximum, bitwise_xor, bitwise_or, bitwise_and, "
       "or the functions of NumPy with these names",
       name);
}

bool is_array(nb::handle given) {
  if (PyLong_CheckExact(given.ptr()) || PyFloat_CheckExact(given.ptr()) ||
      !nb::hasattr(given, "shape"))
    return false;
  return nb::len(nb::object(given.attr("shape"))) > 0;
}

// `values`: a value for all indices, or an array with a value for each index. Messages name the
// call `what` and the values `values_name`.
template <class Key>
void update_by(rank_table& self, nb::handle indices, nb::handle values, const Key& read_key,
               bool barrier, const char* what, const char* values_name) {
  team& ranks = self.array.owner().ranks();
  const bool per_index = is_array(values);
  std::span<const std::int64_t> wanted;
  element_bytes one{};
  array_to_read many;
  const auto read = [&] {
    wanted = indices_in(indices_given(indices));
    if (per_index)
      many = contiguous_for_reading(values, values_name, std::array{self.type});
    else
      one = element_from(values, self.type, values_name);
    if (per_index && many.items != wanted.size())
      fail(errc::usage, "{}: {} indices, but {} numbers in {}: give one for all, or one for each",
           what, wanted.size(), many.items, values_name);
    return read_key();
  };
  self.last_strategy =
      name_of(between_barriers(ranks, barrier, what, read, [&](const plan_key& key) {
        return self.array->update(key, wanted, per_index ? many.data : one.data(), !per_index,
                                  what);
      }));
}

void histogram(rank_table& self, nb::handle indices, nb::handle amount, std::string_view strategy,
               std::int64_t buffer_items, int hops, bool combine, bool barrier) {
  const auto read_key = [&] { return key_of(strategy, buffer_items, hops, combine); };
  update_by(self, indices, amount, read_key, barrier, "histogram", "amount");
}

void update(rank_table& self, nb::handle indices, nb::handle values, nb::handle op,
            std::string_view strategy, std::int64_t buffer_items, int hops, bool combine,
            bool barrier) {
  const auto read_key = [&] {
    plan_key chosen = key_of(strategy, buffer_items, hops, combine);
    chosen.update = operation_of(op, self.type);
    return chosen;
  };
  update_by(self, indices, values, read_key, barrier, "update", "values");
}

nb::object indices_of(const rank_table& self) {
  nb::object indices =
      new_array({self.array->local().size() / bytes_of(self.type)}, element::int64);
  self.array->write_indices(
      reinterpret_cast<std::int64_t*>(contiguous_for_writing(indices, "indices").data));
  return indices;
}

std::string text_of(const rank_table& self) {
  const team_owner& owner = self.array.owner();
  const std::string blocks = self.block_items ? fmt::format(" by {}", *self.block_items) : "";
  return fmt::format("<longshore.Table: {} {} elements, {}{} over {} ranks, {} on rank {}>",
                     self.array->size(), name_of(self.type), self.distribution, blocks,
                     owner.size(), self.array->local().size() / bytes_of(self.type), owner.rank());
}

constexpr const char* indices_text =
    R"(indices: a contiguous array of int64, of any shape, from 0 to size - 1. Each rank may give other
    indices and another number of them, also none.)";
constexpr const char* options_text = R"(
strategy: 'agp', 'exstack', 'exstack2', 'conveyor', 'aggregator' or 'direct', whose messages and
    memory are in docs/reference/gather.md. 'auto' measures once per layout which is fastest.
buffer_items, hops, combine: options of the strategy; with 0, the library chooses.
barrier: whether barriers run before and after the operation, so that the operation sees all stored
    data and no later changes; the ranks also compare their options. If False, the caller makes the
    barriers.

A plan is made when its options first occur, and kept with the table. An index outside of the table
raises UsageError; unsuitable arrays raise TypeError or ValueError.)";

// Adds a function with the options of all operations, which follow `arguments` in the signature.
template <class Function, class... Arguments>
void add_operation(nb::module_& module, const char* name, const Function& function,
                   const std::string& signature, const char* result, std::string text,
                   const Arguments&... arguments) {
  module.def(name, function, "table"_a, "indices"_a, arguments..., nb::kw_only(),
             "strategy"_a = "auto", "buffer_items"_a = 0, "hops"_a = 0, "combine"_a = false,
             "barrier"_a = true,
             nb::sig(kept_text(
                 fmt::format("def {}(table: Table, indices: numpy.ndarray, {}, *, strategy: str = "
                             "'auto', buffer_items: int = 0, hops: int = 0, combine: bool = False, "
                             "barrier: bool = True) -> {}",
                             name, signature, result))),
             kept_text(std::move(text)));
}

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<rank_table>(module, "Table",
                         R"(A one-dimensional array that is distributed over the ranks of a team.

Collective. Elements are initially zero. The part of each rank is in ``local``.

team: None means world().
size: the number of elements on all ranks together.
dtype: an integer or float type of 1 to 8 bytes.
distribution: 'block', 'cyclic', or 'block-cyclic', which gives blocks of ``block_items`` elements
    to the ranks in turn.

Raises UsageError, TypeError or OutOfMemoryError. After all ranks have dropped the table, its memory
is freed when the next table or halo is made or when the run ends. Arrays over the memory keep the
memory valid.

>>> table = longshore.Table(None, 10, "int64")
>>> table.local[:] = 3 * np.arange(10)
>>> longshore.gather(table, np.array([9, 0, 1]))
array([27,  0,  3])
>>> def dealt(team):
...     return longshore.Table(team, 8, "int64", "block-cyclic", block_items=2).indices
>>> longshore.run(dealt, ranks=3)
array([0, 1, 6, 7])
)")
      .def("__init__", &make_table, "team"_a.none(), "size"_a, "dtype"_a = "float64",
           "distribution"_a = "block", nb::kw_only(), "block_items"_a = nb::none(),
           nb::sig("def __init__(self, team: Team | None, size: int, dtype: numpy.typing.DTypeLike "
                   "= 'float64', "
                   "distribution: str = 'block', *, block_items: int | None = None) -> None"))
      .def_prop_ro(
          "local",
          [](nb::object self) {
            rank_table& mine = nb::cast<rank_table&>(self);
            const auto memory = mine.array->local();
            return array_over(memory.data(), {memory.size() / bytes_of(mine.type)}, mine.type,
                              self);
          },
          nb::sig("def local(self) -> numpy.ndarray"),
          "The elements of this rank: an array over the memory of the table, not a copy.")
      .def_prop_ro("indices", &indices_of, nb::sig("def indices(self) -> numpy.ndarray"),
                   "The global indices of the elements of this rank: a new array of int64.")
      .def_prop_ro(
          "size", [](const rank_table& self) { return self.array->size(); },
          "The number of elements on all ranks together.")
      .def_prop_ro(
          "dtype", [](const rank_table& self) { return dtype_of(self.type); },
          nb::sig("def dtype(self) -> numpy.dtype"), "The type of the elements.")
      .def_prop_ro(
          "distribution", [](const rank_table& self) { return self.distribution; },
          "'block', 'cyclic' or 'block-cyclic'.")
      .def_prop_ro(
          "block_items", [](const rank_table& self) { return self.block_items; },
          "The elements of a block of a 'block-cyclic' table; None for other distributions.")
      .def_prop_ro(
          "strategy", [](const rank_table& self) { return self.last_strategy; },
          "The strategy of the last operation, for 'auto' the chosen strategy; '' before any "
          "operation.")
      .def(
          "owner",
          [](const rank_table& self, std::int64_t index) {
            if (index < 0 || static_cast<std::size_t>(index) >= self.array->size())
              throw nb::index_error(
                  fmt::format("element {} of a table of {}", index, self.array->size()).c_str());
            return self.array->owner_of(static_cast<std::size_t>(index));
          },
          "index"_a,
          "Returns the rank that owns an element. Raises IndexError if there is no such element.")
      .def("__len__", [](const rank_table& self) { return self.array->size(); })
      .def("__repr__", &text_of);

  add_operation(
      module, "gather", &gather, "out: numpy.ndarray | None = None", "numpy.ndarray",
      fmt::format(R"(Collective. Reads the elements of the table at the given global indices.

Returns a new array with the shape of the indices, or ``out``.

indices: a contiguous array of int64, of any shape, from 0 to size - 1 (-1 is not the last element).
    Each rank may give any number of indices.
out: a contiguous array for the result, with the type of the table and one element per index. The
    result must not overlap the indices.
{}

>>> table = longshore.Table(None, 4)
>>> table.local[:] = [0.0, 0.5, 1.0, 1.5]
>>> longshore.gather(table, np.array([[3, 3], [0, 1]]))
array([[1.5, 1.5],
       [0. , 0.5]])
)",
                  options_text),
      "out"_a = nb::none());
  add_operation(module, "scatter", &scatter, "values: numpy.ndarray", "None",
                fmt::format(R"(Collective. Stores values[i] at the global index indices[i].

If several values go to one element, one of the values is stored, never a mixture.

{}
values: a contiguous array with the type of the table and one element per index.
{}

>>> table = longshore.Table(None, 3, "int32")
>>> longshore.scatter(table, np.array([2, 0]), np.array([7, 8], "int32"))
>>> table.local
array([8, 0, 7], dtype=int32)
)",
                            indices_text, options_text),
                "values"_a);
  add_operation(
      module, "update", &update,
      "values: int | float | numpy.ndarray, op: str | collections.abc.Callable[..., typing.Any]",
      "None",
      fmt::format(
          R"(Collective. Replaces the element at each index by ``op`` of the element and a value.

This is the distributed form of ``np.minimum.at(a, indices, values)``. No update is lost if several
ranks update one element. Elements of 1 or 2 bytes raise UnsupportedError.

{}
values: one number for all indices, or a contiguous array with the type of the table and one element
    per index.
op: 'add', 'minimum' or 'maximum' (also 'sum', 'min', 'max'); for integers also 'bitwise_xor',
    'bitwise_or', 'bitwise_and'; or the function of NumPy with this name. The first operand of
    ``op`` is the old value of the element. In a new table this value is zero. Minimum and maximum
    do not support NaN.
{}

>>> table = longshore.Table(None, 3, "int64")
>>> longshore.update(table, np.array([2, 0, 2]), np.array([7, 8, 9]), "maximum")
>>> table.local
array([8, 0, 9])
>>> longshore.update(table, np.array([2, 0]), 1, np.bitwise_and)
>>> table.local
array([0, 0, 1])
)",
          indices_text, options_text),
      "values"_a, "op"_a);
  add_operation(
      module, "histogram", &histogram, "amount: int | float | numpy.ndarray = 1", "None",
      fmt::format(
          R"(Collective. Adds ``amount`` to the element at each index. update() has other operations.

No update is lost if several ranks update one element. Elements of 1 or 2 bytes raise
UnsupportedError.

{}
amount: one number for all indices, or a contiguous array with the type of the table and one element
    per index.
{}

>>> table = longshore.Table(None, 3, "int64")
>>> longshore.histogram(table, np.array([2, 0, 2, 2]))
>>> table.local
array([1, 0, 3])
)",
          indices_text, options_text),
      "amount"_a = 1);
}

}  // namespace longshore::python
