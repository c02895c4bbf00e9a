// Combines elements that consist of several numbers, by the loops for single numbers.
#include <longshore/exchange/runtime_types.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <memory>
#include <span>
#include <utility>

namespace longshore::detail {
namespace {

// For each type of number: `numbers` is for fields with one number in an element, and `items` for
// fields with several numbers. `items` have no loops: op_for_items() makes their operations.
template <class... T>
struct tables_of {
  static constexpr std::array<const element_type*, sizeof...(T)> numbers{&element_type_of<T>...};
  static constexpr std::array<element_type, sizeof...(T)> items{
      element_type{&typeid(T*), &type_name<T>, {}}...};
  static constexpr std::array<std::size_t, sizeof...(T)> bytes{sizeof(T)...};
};
using number_tables = tables_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t, float, double>;

struct any_bytes;
constexpr element_type bytes_type = {
    &typeid(any_bytes*), []() noexcept { return std::string_view("bytes"); }, {}};

template <class T>
constexpr element_type complex_type(std::string_view (*name)() noexcept) {
  return {&typeid(T), name, element_type_of<T>.loops};
}
constexpr std::array<element_type, 2> complex_types = {
    complex_type<std::complex<float>>([]() noexcept { return std::string_view("complex64"); }),
    complex_type<std::complex<double>>([]() noexcept { return std::string_view("complex128"); })};

struct loop_over_items {
  combine_op op;
  batch_function loop;
  std::size_t items, bytes;
};

// Returns the batch without its first `count` pairs.
element_batch after(element_batch batch, std::size_t count) {
  if (batch.to_index != nullptr)
    batch.to_index += count;
  else
    batch.to += static_cast<std::ptrdiff_t>(count) * batch.to_stride_bytes;
  if (batch.from_index != nullptr)
    batch.from_index += count;
  else
    batch.from += static_cast<std::ptrdiff_t>(count) * batch.from_stride_bytes;
  batch.count -= count;
  return batch;
}

// Goes through the pairs in parts that fit into the caches, once for each number of an element.
void combine_items(const void* state, const element_batch& batch) {
  constexpr std::size_t pairs_at_a_time = 512;
  const auto& over = *static_cast<const loop_over_items*>(state);
  for (element_batch rest = batch; rest.count > 0;) {
    element_batch part = rest;
    part.count = std::min(rest.count, pairs_at_a_time);
    rest = after(rest, part.count);
    for (std::size_t i = 0; i < over.items; ++i) {
      over.loop(over.op.state().get(), part);
      part.to += over.bytes;
      part.from += over.bytes;
    }
  }
}

}  // namespace

const element_type& element_type_of_number(number_type type) noexcept {
  if (type >= number_type::complex64) return complex_types[type == number_type::complex64 ? 0 : 1];
  return *number_tables::numbers[static_cast<std::size_t>(type)];
}

const element_type& element_type_of_bytes() noexcept { return bytes_type; }

const element_type& element_type_of_items(number_type type) noexcept {
  return number_tables::items[static_cast<std::size_t>(type)];
}

combine_op op_for_items(const combine_op& op, number_type type, std::size_t items) {
  const auto loop = op.loop_for(element_type_of_number(type));
  if (loop == nullptr)
    fail(errc::usage,
         "accumulate: the operation does not exist for the numbers of a field: bits are combined "
         "in fields of integers only");
  return combine_op::of_batches(
      &combine_items, std::make_shared<const loop_over_items>(loop_over_items{
                          op, loop, items, number_tables::bytes[static_cast<std::size_t>(type)]}));
}

}  // namespace longshore::detail
