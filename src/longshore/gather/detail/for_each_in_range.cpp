#include <longshore/gather/detail/for_each_in_range.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::detail {

void throw_index_error(const char* operation, std::span<const std::int64_t> indices,
                       std::uint64_t size, int rank) {
  const auto bad = std::find_if(indices.begin(), indices.end(), [&](std::int64_t index) {
    return index < 0 || static_cast<std::uint64_t>(index) >= size;
  });
  assert(bad != indices.end());
  const auto position = bad - indices.begin();
  if (size == 0)
    fail(errc::usage, "{} on rank {}: index {} at position {} is outside the table, an empty table",
         operation, rank, *bad, position);
  fail(errc::usage,
       "{} on rank {}: index {} at position {} is outside the table of {} elements: give 0 to {}",
       operation, rank, *bad, position, size, size - 1);
}

}  // namespace longshore::detail
