// The error of an index outside of the table, compiled once, outside of the loops that check
// indices.
#include <longshore/gather/detail/for_each_in_range.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::detail {

void throw_index_error(const char* operation, std::span<const std::int64_t> indices,
                       std::uint64_t size, int rank) {
  const auto outside = std::find_if(indices.begin(), indices.end(), [&](std::int64_t index) {
    return index < 0 || static_cast<std::uint64_t>(index) >= size;
  });
  assert(outside != indices.end());
  const auto position = outside - indices.begin();
  if (size == 0)
    fail(errc::usage, "{} on rank {}: index {} at position {} is outside the table, an empty table",
         operation, rank, *outside, position);
  fail(errc::usage,
       "{} on rank {}: index {} at position {} is outside the table of {} elements: give 0 to {}",
       operation, rank, *outside, position, size, size - 1);
}

}  // namespace longshore::detail
