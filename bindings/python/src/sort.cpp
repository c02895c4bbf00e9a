// The function sort(): keys of any type, with or without values.
//
// A projection maps the bits of a key to an unsigned number of the same order. The sort is
// therefore compiled for two sizes of keys instead of ten types. Keys of 8 and 16 bits are widened.
// Keys with values travel in pairs of 16 bytes.
#include "sort.hpp"

#include "arrays.hpp"
#include "gil.hpp"
#include "rank_team.hpp"

#include <longshore/core/error.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/sort/bucket_sort.hpp>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace longshore::python {
namespace {

using namespace nb::literals;

/// The bits to flip in a key, so that it compares like an unsigned number. It does the same as
/// image_of in key_image.hpp, for a type known at run time.
template <class Bits>
struct key_bits {
  Bits sign = 0;      // the sign bit, if the type has one
  Bits negative = 0;  // for floats: all bits, which negative numbers flip

  [[nodiscard]] Bits operator()(const Bits& key) const noexcept {
    const auto set = static_cast<Bits>(0 - (key >> (8 * sizeof(Bits) - 1)));
    return static_cast<Bits>(key ^ ((set & negative) | sign));
  }
  [[nodiscard]] Bits key_of(Bits image) const noexcept {
    const auto clear =  // all ones if the key was negative: the sign bit of its image is 0
        static_cast<Bits>((image >> (8 * sizeof(Bits) - 1)) - 1);
    return static_cast<Bits>(image ^ ((clear & negative) | sign));
  }
};

template <class Bits>
key_bits<Bits> bits_of(element type, bool from_zero) {
  constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  if (is_floating(type)) return {sign, static_cast<Bits>(~Bits{0})};
  return {is_signed(type) && !from_zero ? sign : Bits{0}, 0};
}

// Converts integers of any type to 32 or 64 bits of the same value.
template <class Bits>
void widen(const array_to_read& from, Bits* to) {
  const auto each = [&]<class Given>(Given) {
    const auto* given = reinterpret_cast<const Given*>(from.data);
    for (std::size_t i = 0; i < from.items; ++i)
      to[i] = static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(given[i]));
  };
  switch (from.type) {
    case element::int8: return each(std::int8_t{});
    case element::int16: return each(std::int16_t{});
    case element::int32: return each(std::int32_t{});
    case element::uint8: return each(std::uint8_t{});
    case element::uint16: return each(std::uint16_t{});
    case element::uint32: return each(std::uint32_t{});
    default: std::memcpy(to, from.data, from.bytes());
  }
}

// Copies the low bytes of each number.
template <class Bits>
void narrow(const Bits* from, std::size_t items, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < items; ++i) std::memcpy(to + i * bytes, from + i, bytes);
}

/// Collective. Calls take(span of this rank's sorted items), which are valid during the call.
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

// REQUIRES: the thread holds the GIL. It is released during the sort.
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
  sort_items(ranks, items, options, bits_of<Bits>(keys.type, options.max_key > 0),
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
  const bool from_zero = options.max_key > 0;
  const auto narrow_bits = bits_of<std::uint32_t>(keys.type, from_zero);
  const auto wide_bits = bits_of<std::uint64_t>(keys.type, from_zero);
  const bool narrow_float = keys.type == element::float32;
  sorted_arrays sorted;
  const release_gil unlocked;
  std::vector<std::uint64_t> wide(narrow_float ? 0 : keys.items);
  if (!narrow_float) widen(keys, wide.data());
  std::vector<pair> items(keys.items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::uint32_t bits = 0;
    if (narrow_float) std::memcpy(&bits, keys.data + i * key_bytes, key_bytes);
    items[i].key = narrow_float ? narrow_bits(bits) : wide_bits(wide[i]);
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
              narrow_float ? narrow_bits.key_of(static_cast<std::uint32_t>(mine[i].key))
                           : wide_bits.key_of(mine[i].key);
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
  options.exchange = exchange_strategy_of(exchange);
  options.order = exchange_order_of(order);
  options.stable = stable;
  options.together = together;
  if (splitters != "sampled" && splitters != "equal-width")
    fail(errc::usage, "splitters '{}': allowed are sampled, equal-width", splitters);
  options.splitters =
      splitters == "sampled" ? bucket_splitters::sampled : bucket_splitters::equal_width;
  if (!max_key) return options;
  if (is_floating(type))
    fail(errc::usage, "max_key {} is for integer keys: leave it out for floats", *max_key);
  const std::uint64_t most =
      ~std::uint64_t{0} >> (64 - 8 * bytes_of(type) + (is_signed(type) ? 1 : 0));
  if (*max_key < 1 || *max_key - 1 > most)
    fail(errc::usage, "max_key {}: 1 to {} for keys of {}", *max_key,
         most + (most < ~std::uint64_t{0} ? 1 : 0), name_of(type));
  options.max_key = *max_key;
  return options;
}

nb::object sort(nb::handle team_given, nb::handle keys_given, nb::handle values_given,
                std::optional<std::uint64_t> max_key, bool stable, bool together,
                std::string_view splitters, std::string_view exchange, std::string_view order,
                int task_count) {
  const rank_team mine = team_or_world(team_given);
  auto& ranks = mine.ranks();
  const auto keys = contiguous_for_reading(keys_given, "keys", real_elements);
  if (keys.shape.size() != 1)
    throw nb::value_error(
        fmt::format("keys: {} dimensions; one is needed", keys.shape.size()).c_str());
  bucket_options options =
      options_from(keys.type, exchange, order, max_key, stable, splitters, together);
  if (task_count < 1) fail(errc::usage, "{} tasks: at least 1", task_count);
  std::optional<tasks> workers;
  if (task_count > 1) {
    workers.emplace(task_options{.layer = "threads",
                                 .count = task_count,
                                 .cpus = ranks.cpus(),
                                 .spin = ranks.waiting().spin});
    options.workers = &*workers;
  }
  if (values_given.is_none())
    return bytes_of(keys.type) <= 4 ? sort_keys<std::uint32_t>(ranks, keys, options)
                                    : sort_keys<std::uint64_t>(ranks, keys, options);
  const auto values = contiguous_for_reading(values_given, "values", real_elements);
  if (values.shape.size() != 1 || values.items != keys.items)
    throw nb::value_error(
        fmt::format("values: {} in {} dimensions, but {} keys: each key needs one", values.items,
                    values.shape.size(), keys.items)
            .c_str());
  const auto sorted = sort_pairs(ranks, keys, values, options);
  return nb::make_tuple(sorted.keys, sorted.values);
}

}  // namespace

void bind_sort(nb::module_& module) {
  module.def(
      "sort", &sort, "team"_a.none(), "keys"_a, "values"_a = nb::none(), nb::kw_only(),
      "max_key"_a = nb::none(), "stable"_a = false, "together"_a = false, "splitters"_a = "sampled",
      "exchange"_a = "auto", "order"_a = "round-robin", "tasks"_a = 1,
      nb::sig("def sort(team: Team | None, keys: numpy.ndarray, values: numpy.ndarray | None = "
              "None, *, "
              "max_key: int | None = None, stable: bool = False, together: bool = False, "
              "splitters: str = 'sampled', "
              "exchange: str = 'auto', order: str = 'round-robin', tasks: int = 1) -> typing.Any"),
      R"(Collective. Sorts keys that are distributed over the ranks.

Returns the part of this rank as a new array, in ascending order. No key of a rank is above a key
of a later rank. With ``values`` it returns a pair of new arrays: the keys, and their values.

keys: a contiguous array of one dimension, of integers or floats of any type. Each rank may give
    another number of keys, also none. All ranks give the same type. The array is not changed.
values: one number for each key, of any integer or float type.
max_key: integer keys are in [0, max_key). This saves a search for their range.
stable: equal keys stay in the order of their ranks and positions.
together: equal keys come to the same rank.
splitters: 'sampled' gives each rank about the same number of keys. 'equal-width' divides the range
    of keys into equal parts; it is faster for evenly distributed keys.
exchange, order: the exchange between ranks; docs/reference/sort.md lists them.
tasks: threads per rank.

Raises TypeError or ValueError for unsuitable arrays, and UsageError for a key outside the range
[0, max_key). docs/reference/sort.md has the messages and the memory of each exchange.

>>> longshore.sort(None, np.array([2.5, -1.0, 0.0]))
array([-1. ,  0. ,  2.5])
>>> longshore.sort(None, np.array([3, 1, 2]), np.array([30, 10, 20]))
(array([1, 2, 3]), array([10, 20, 30]))
)");
}

}  // namespace longshore::python
