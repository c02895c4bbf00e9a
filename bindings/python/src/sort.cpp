// The function sort(): keys of any type, with or without values.
//
// The sort is compiled for two sizes of radix keys (unsigned integers with the order of the keys)
// instead of ten types. Keys of 8 and 16 bits are widened. Pairs of a key and a value have 16
// bytes.
#include "module.hpp"

#include "../../c/bit_flip.hpp"
#include "arrays.hpp"
#include "gil.hpp"
#include "rank_team.hpp"
#include "read_on_all_ranks.hpp"
#include "task_arguments.hpp"

#include <longshore/core/error.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/sort/bucket_sort.hpp>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace longshore::python {
namespace {

using namespace nb::literals;

template <class Bits>
bindings::bit_flip<Bits> flip_of(element type, const bucket_options& options) {
  return bindings::bit_flip_of<Bits>(is_floating(type), is_signed(type), options.max_key > 0);
}

// Converts integers of up to 4 bytes to 32 or 64 bits. Values stay the same, because the conversion
// to a signed type copies the sign.
template <class Bits>
void widen(const array_to_read& from, Bits* to) {
  const auto convert = [&]<class Given>(Given) {
    const auto* given = reinterpret_cast<const Given*>(from.data);
    for (std::size_t i = 0; i < from.items; ++i)
      to[i] = static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(given[i]));
  };
  switch (from.type) {
    case element::int8: return convert(std::int8_t{});
    case element::int16: return convert(std::int16_t{});
    case element::int32: return convert(std::int32_t{});
    case element::uint8: return convert(std::uint8_t{});
    case element::uint16: return convert(std::uint16_t{});
    case element::uint32: return convert(std::uint32_t{});
    // Types of 8 bytes, whose bits are copied. REQUIRES: Bits has 8 bytes; float32 does not come
    // here.
    default: std::memcpy(to, from.data, from.bytes());
  }
}

// Copies the low bytes of each number, which come first in memory.
static_assert(std::endian::native == std::endian::little);
template <class Bits>
void narrow(const Bits* from, std::size_t items, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < items; ++i) std::memcpy(to + i * bytes, from + i, bytes);
}

/// Collective. Calls take() with a span of this rank's sorted items, which is valid during the
/// call.
template <class Item, class Projection, class Take>
void sort_items(team& ranks, std::span<const Item> items, const bucket_options& options,
                const Projection& projection, const Take& take) {
  bucket_sorter<Item, Projection> sorter(ranks, options, projection);
  take(sorter.sort(items));
  ranks.barrier();  // other ranks may still read memory of this sorter
}

struct sorted_arrays {
  nb::object keys, values;
};

// REQUIRES: the thread holds the GIL, which is released during the sort.
template <class Bits>
nb::object sort_keys(team& ranks, const array_to_read& keys, const bucket_options& options) {
  const std::size_t key_bytes = bytes_of(keys.type);
  nb::object sorted;
  const release_gil unlocked;
  std::vector<Bits> wide;
  std::span<const Bits> items{reinterpret_cast<const Bits*>(keys.data), keys.items};
  if (key_bytes < sizeof(Bits)) {
    wide.resize(keys.items);
    widen(keys, wide.data());
    items = wide;
  }
  sort_items(ranks, items, options, flip_of<Bits>(keys.type, options),
             [&](std::span<const Bits> mine) {
               std::byte* to = nullptr;
               {
                 const acquire_gil lock;
                 sorted = new_array({mine.size()}, keys.type);
                 to = contiguous_for_writing(sorted, "keys").data;
               }
               narrow(mine.data(), mine.size(), to, key_bytes);
             });
  return sorted;
}

sorted_arrays sort_pairs(team& ranks, const array_to_read& keys, const array_to_read& values,
                         const bucket_options& options) {
  using pair = keyed<std::uint64_t, std::uint64_t>;
  const std::size_t key_bytes = bytes_of(keys.type), value_bytes = bytes_of(values.type);
  const auto narrow_flip = flip_of<std::uint32_t>(keys.type, options);
  const auto wide_flip = flip_of<std::uint64_t>(keys.type, options);
  const bool narrow_float = keys.type == element::float32;
  sorted_arrays sorted;
  const release_gil unlocked;
  std::vector<std::uint64_t> wide(narrow_float ? 0 : keys.items);
  if (!narrow_float) widen(keys, wide.data());
  std::vector<pair> items(keys.items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::uint32_t bits = 0;
    if (narrow_float) std::memcpy(&bits, keys.data + i * key_bytes, key_bytes);
    items[i].key = narrow_float ? narrow_flip(bits) : wide_flip(wide[i]);
    items[i].value = 0;
    std::memcpy(&items[i].value, values.data + i * value_bytes, value_bytes);
  }
  sort_items(
      ranks, std::span<const pair>(items), options, &pair::key, [&](std::span<const pair> mine) {
        std::byte *to_keys = nullptr, *to_values = nullptr;
        {
          const acquire_gil lock;
          sorted = {new_array({mine.size()}, keys.type), new_array({mine.size()}, values.type)};
          to_keys = contiguous_for_writing(sorted.keys, "keys").data;
          to_values = contiguous_for_writing(sorted.values, "values").data;
        }
        for (std::size_t i = 0; i < mine.size(); ++i) {
          const std::uint64_t key =
              narrow_float ? narrow_flip.inverse(static_cast<std::uint32_t>(mine[i].key))
                           : wide_flip.inverse(mine[i].key);
          std::memcpy(to_keys + i * key_bytes, &key, key_bytes);
          std::memcpy(to_values + i * value_bytes, &mine[i].value, value_bytes);
        }
      });
  return sorted;
}

bucket_options options_from(element type, std::string_view exchange, std::string_view order,
                            std::optional<std::uint64_t> max_key, bool stable,
                            std::string_view splitters, bool together) {
  bucket_options options;
  options.exchange = from_name<exchange_strategy>(exchange);
  options.order = from_name<exchange_order>(order);
  options.stable = stable;
  options.together = together;
  if (splitters != "sampled" && splitters != "equal-width")
    fail(errc::usage, "splitters '{}': allowed are sampled, equal-width", splitters);
  options.splitters =
      splitters == "sampled" ? bucket_splitters::sampled : bucket_splitters::equal_width;
  if (!max_key) return options;
  if (is_floating(type))
    fail(errc::usage, "max_key {} is for integer keys: leave it out for floats", *max_key);
  const std::uint64_t largest =  // the largest key of the type: 2^(bits of the value) - 1
      ~std::uint64_t{0} >> (64 - 8 * bytes_of(type) + (is_signed(type) ? 1 : 0));
  if (*max_key < 1 || *max_key - 1 > largest)
    fail(errc::usage, "max_key {}: 1 to {} for keys of {}", *max_key,
         largest + (largest < ~std::uint64_t{0} ? 1 : 0),  // without overflow for uint64
         name_of(type));
  options.max_key = *max_key;
  return options;
}

nb::object sort(nb::handle team_given, nb::handle keys_given, nb::handle values_given,
                std::optional<std::uint64_t> max_key, bool stable, bool together,
                std::string_view splitters, std::string_view exchange, std::string_view order,
                nb::handle tasks_given, std::optional<int> task_count,
                std::optional<std::uint64_t> seed, bool barrier_before_exchange) {
  const rank_team mine = team_or_world(team_given);
  auto& ranks = mine.ranks();
  const bool has_values = !values_given.is_none();
  array_to_read keys, values;
  bucket_options options;
  task_options tasking;
  common_arguments same;
  read_on_all_ranks(ranks, "sort", same, [&] {
    keys = contiguous_for_reading(keys_given, "keys", real_elements);
    if (keys.shape.size() != 1)
      value_error("keys: {} dimensions; one is needed", keys.shape.size());
    options = options_from(keys.type, exchange, order, max_key, stable, splitters, together);
    tasking = task_options_from(ranks, tasks_given, task_count);
    options.keys = name_of(keys.type);
    if (has_values) {
      values = contiguous_for_reading(values_given, "values", real_elements);
      if (values.shape.size() != 1 || values.items != keys.items)
        value_error("values: {} in {} dimensions, but {} keys: each key needs one", values.items,
                    values.shape.size(), keys.items);
      options.keys += fmt::format(" with values of {}", name_of(values.type));
    }
    same.add("keys of", options.keys);
  });
  if (seed) options.seed = *seed;
  options.barrier_before_exchange = barrier_before_exchange;
  tasks workers(tasking);
  options.workers = &workers;
  if (!has_values)
    return bytes_of(keys.type) <= 4 ? sort_keys<std::uint32_t>(ranks, keys, options)
                                    : sort_keys<std::uint64_t>(ranks, keys, options);
  const auto sorted = sort_pairs(ranks, keys, values, options);
  return nb::make_tuple(sorted.keys, sorted.values);
}

}  // namespace

void bind_sort(nb::module_& module) {
  module.def(
      "sort", &sort, "team"_a.none(), "keys"_a, "values"_a = nb::none(), nb::kw_only(),
      "max_key"_a = nb::none(), "stable"_a = false, "together"_a = false, "splitters"_a = "sampled",
      "exchange"_a = "auto", "order"_a = "round-robin", "tasks"_a = nb::none(),
      "task_count"_a = nb::none(), "seed"_a = nb::none(), "barrier_before_exchange"_a = false,
      nb::sig("def sort(team: Team | None, keys: numpy.ndarray, values: numpy.ndarray | None = "
              "None, *, "
              "max_key: int | None = None, stable: bool = False, together: bool = False, "
              "splitters: str = 'sampled', "
              "exchange: str = 'auto', order: str = 'round-robin', tasks: str | None = "
              "None, task_count: int | None = None, seed: int | None = None, "
              "barrier_before_exchange: bool = False) -> typing.Any"),
      R"(Collective. Sorts keys that are distributed over the ranks.

Returns the part of this rank as a new array, in ascending order; with ``values``, a pair of new
arrays: the keys, and their values. No key of a rank is above a key of a later rank.

keys: a contiguous array of one dimension, of integers or floats of any type. Each rank gives any
    number of keys. All ranks give the same type. The array is not changed.
values: an array with a number for each key, of any integer or float type.
max_key: integer keys are in [0, max_key); otherwise the sort searches for their range.
stable: equal keys stay in the order of their ranks and positions.
together: equal keys come to the same rank.
splitters: 'sampled' gives each rank about the same number of keys. 'equal-width' divides the range
    of keys into equal parts, and is faster for evenly distributed keys.
exchange, order: the exchange between ranks; docs/reference/sort.md lists the choices.
tasks, task_count: the tasking layer of each rank ('serial', 'threads', 'openmp', 'tbb'), and its
    number of tasks. Without a number: the rank's share of the cores.
seed: of random orders and of samples.
barrier_before_exchange: a barrier stands before the exchange, for measurements.

Raises TypeError or ValueError for unsuitable arrays, and UsageError for a key outside the range
[0, max_key). docs/reference/sort.md has the messages and the memory of each exchange.

>>> longshore.sort(None, np.array([2.5, -1.0, 0.0]))
array([-1. ,  0. ,  2.5])
>>> longshore.sort(None, np.array([3, 1, 2]), np.array([30, 10, 20]))
(array([1, 2, 3]), array([10, 20, 30]))
)");
}

}  // namespace longshore::python
