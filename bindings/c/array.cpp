// Arrays, and what gather, scatter and updates are asked alike.
#include "arrays.hpp"

using longshore::bindings::chosen_distribution;

longshore_array::longshore_array(longshore_team& of, int of_type, std::size_t word_bytes,
                                 std::uint64_t size, chosen_distribution distribution)
    : owned(of, "array"), type(of_type), elements(make_words(of, word_bytes, size, distribution)) {}

longshore_array::any_words longshore_array::make_words(longshore_team& of, std::size_t word_bytes,
                                                       std::uint64_t size,
                                                       chosen_distribution distribution) {
  if (word_bytes == 8) return words<std::int64_t>(of.ranks, size, distribution);
#ifdef LONGSHORE_C_FEW_TYPES
  longshore::fail(longshore::errc::unsupported,
                  "arrays of elements of 4 bytes: this library was built for 8 bytes only");
#else
  return words<std::uint32_t>(of.ranks, size, distribution);
#endif
}

namespace longshore::bindings {

gather_options options_of(const longshore_gather_options* given) {
  gather_options options;
  if (given == nullptr) return options;
  options.strategy = gather_strategy_of(word_or(given->strategy, "auto"));
  if (given->buffer_items != 0)
    options.buffer_items = count_from(given->buffer_items, "buffer_items");
  options.hops = given->hops;
  options.combine = given->combine != 0;
  options.expected_requests = count_from(given->expected_requests, "expected_requests");
  return options;
}

void check_requests(const std::int64_t* indices, std::int64_t count, const void* values,
                    bool may_be_null) {
  if (count_from(count, "the number of indices") == 0) return;
  needed(indices, "the array of indices");
  if (!may_be_null) needed(static_cast<const char*>(values), "the array of values");
}

}  // namespace longshore::bindings

namespace {

using namespace longshore;
using namespace longshore::bindings;

longshore_array* make_array(longshore_team* team, int type, std::size_t element_bytes,
                            std::int64_t size, chosen_distribution distribution) {
  const std::size_t bytes = bytes_of_type(type, element_bytes, "an array");
  if (bytes != 4 && bytes != 8)
    fail(errc::usage,
         "an array of {} with {} bytes per element: elements of 4 and of 8 bytes can be spread "
         "over ranks",
         name_of_type(type), bytes);
  longshore_team& of = usable(team);
  return of.keep(std::make_unique<longshore_array>(
      of, type, bytes, count_from(size, "the size of an array"), distribution));
}

}  // namespace

extern "C" {

int longshore_array_create(longshore_team* team, int type, size_t element_bytes, int64_t size,
                           const char* distribution, longshore_array** array) {
  return guarded([&] {
    needed(array, "the place for the array");
    const std::string_view name = word_or(distribution, "block");
    if (name != "block" && name != "cyclic")
      fail(errc::usage,
           "distribution '{}': it is one of block, cyclic (block-cyclic: "
           "longshore_array_create_block_cyclic, which is told the "
           "size of blocks)",
           name);
    *array = make_array(team, type, element_bytes, size, {name == "cyclic" ? 1U : 0U});
  });
}

int longshore_array_create_block_cyclic(longshore_team* team, int type, size_t element_bytes,
                                        int64_t size, int64_t block_items,
                                        longshore_array** array) {
  return guarded([&] {
    needed(array, "the place for the array");
    if (block_items < 1)
      fail(errc::usage, "a block-cyclic array with blocks of {} elements: 1 or more", block_items);
    *array = make_array(team, type, element_bytes, size, {static_cast<std::uint64_t>(block_items)});
  });
}

int longshore_array_free(longshore_array* array) {
  return guarded([&] { longshore_team::free(array); });
}

int64_t longshore_array_size(const longshore_array* array) {
  return array->with([](const auto& a) { return static_cast<int64_t>(a.size()); });
}

void* longshore_array_local(longshore_array* array) {
  return array->with([](auto& a) -> void* { return a.local().data(); });
}

int64_t longshore_array_local_size(const longshore_array* array) {
  return array->with([](const auto& a) { return static_cast<int64_t>(a.local().size()); });
}

int64_t longshore_array_index(const longshore_array* array, int64_t offset) {
  return array->with([offset](const auto& a) -> int64_t {
    if (offset < 0 || offset >= static_cast<int64_t>(a.local().size())) return -1;
    return static_cast<int64_t>(
        a.map().index_of(a.team().rank(), static_cast<std::uint64_t>(offset)));
  });
}

int longshore_array_owner(const longshore_array* array, int64_t index, int64_t* offset) {
  return array->with([index, offset](const auto& a) {
    if (index < 0 || index >= static_cast<int64_t>(a.size())) return -1;
    const location at = a.map().owner_offset(static_cast<std::uint64_t>(index));
    if (offset != nullptr) *offset = static_cast<int64_t>(at.offset);
    return at.rank;
  });
}
}
