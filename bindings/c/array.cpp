// Functions longshore_array_...: an array of any type of 4 or 8 bytes is an array of words of this
// size. Also checks the options and arguments of gather, scatter and update.
#include "arrays.hpp"

using longshore::bindings::chosen_distribution;

longshore_array::longshore_array(longshore_team& owner, int of_type, std::size_t word_bytes,
                                 std::uint64_t size, chosen_distribution distribution)
    : resource(owner, "array"),
      type(of_type),
      elements(make_words(owner, of_type, word_bytes, size, distribution)) {}

longshore_array::any_words longshore_array::make_words(longshore_team& owner, int type,
                                                       std::size_t word_bytes, std::uint64_t size,
                                                       chosen_distribution distribution) {
  const char* const name = longshore::bindings::name_of_type(type);
  if (word_bytes == 8) return words<std::int64_t>(owner.ranks, size, distribution, name);
#ifdef LONGSHORE_C_FEW_TYPES
  longshore::fail(longshore::errc::unsupported,
                  "arrays with elements of 4 bytes: this library was built for elements of 8 "
                  "bytes only");
#else
  return words<std::uint32_t>(owner.ranks, size, distribution, name);
#endif
}

namespace longshore::bindings {

gather_options options_of(const longshore_gather_options* given) {
  gather_options options;
  if (given == nullptr) return options;
  check_reserved(given->reserved, "longshore_gather_options");
  options.strategy = from_name<gather_strategy>(text_or(given->strategy, "auto"));
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
  required(indices, "the array of indices");
  if (!may_be_null) required(static_cast<const char*>(values), "the array of values");
}

}  // namespace longshore::bindings

namespace {

using namespace longshore;
using namespace longshore::bindings;

// `read` returns the distribution.
template <class Read>
int create_array(longshore_team* team, int type, std::size_t element_bytes, std::int64_t size,
                 longshore_array** array, const Read& read) {
  return guarded([&] {
    longshore_team& owner = checked(team);
    std::size_t bytes = 0, elements = 0;
    const chosen_distribution distribution = read_on_all_ranks(owner, "an array", [&] {
      required(array, "the pointer for the array");
      bytes = bytes_of_type(type, element_bytes, "an array");
      if (bytes != 4 && bytes != 8)
        fail(errc::usage,
             "an array of {} with {} bytes per element: elements must have 4 or 8 bytes",
             name_of_type(type), bytes);
      elements = count_from(size, "the size of an array");
      return read();
    });
    *array =
        owner.keep(std::make_unique<longshore_array>(owner, type, bytes, elements, distribution));
  });
}

}  // namespace

extern "C" {

int longshore_array_create(longshore_team* team, int type, size_t element_bytes, int64_t size,
                           const char* distribution, longshore_array** array) {
  return create_array(team, type, element_bytes, size, array, [&] {
    const std::string_view name = text_or(distribution, "block");
    if (name != "block" && name != "cyclic")
      fail(errc::usage,
           "distribution '{}': it is one of block, cyclic (for block-cyclic call "
           "longshore_array_create_block_cyclic)",
           name);
    return chosen_distribution{name == "cyclic" ? 1U : 0U};
  });
}

int longshore_array_create_block_cyclic(longshore_team* team, int type, size_t element_bytes,
                                        int64_t size, int64_t block_items,
                                        longshore_array** array) {
  return create_array(team, type, element_bytes, size, array, [&] {
    if (block_items < 1)
      fail(errc::usage, "a block-cyclic array with blocks of {} elements: use 1 or more",
           block_items);
    return chosen_distribution{static_cast<std::uint64_t>(block_items)};
  });
}

int longshore_array_free(longshore_array* array) { return free_object(array); }

int64_t longshore_array_size(const longshore_array* array) {
  return existing(array, "the array").visit([](const auto& a) {
    return static_cast<int64_t>(a.size());
  });
}

void* longshore_array_local(longshore_array* array) {
  return existing(array, "the array").visit([](auto& a) -> void* { return a.local().data(); });
}

int64_t longshore_array_local_size(const longshore_array* array) {
  return existing(array, "the array").visit([](const auto& a) {
    return static_cast<int64_t>(a.local().size());
  });
}

int64_t longshore_array_index(const longshore_array* array, int64_t offset) {
  return existing(array, "the array").visit([offset](const auto& a) -> int64_t {
    if (offset < 0 || offset >= static_cast<int64_t>(a.local().size())) return -1;
    return static_cast<int64_t>(
        a.map().index_of(a.team().rank(), static_cast<std::uint64_t>(offset)));
  });
}

int longshore_array_owner(const longshore_array* array, int64_t index, int64_t* offset) {
  return existing(array, "the array").visit([index, offset](const auto& a) {
    if (index < 0 || index >= static_cast<int64_t>(a.size())) return -1;
    const location owner = a.map().owner_offset(static_cast<std::uint64_t>(index));
    if (offset != nullptr) *offset = static_cast<int64_t>(owner.offset);
    return owner.rank;
  });
}
}
