// What needs no code in the loops of users: the check of a block of indices, and the error of an
// index outside of the table.
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

void index_checker::check_block() {
  constexpr std::size_t block_size = 512;  // 4 KiB, which stay in the L1 cache until used
  const auto block = indices_.subspan(checked_, smaller(block_size, indices_.size() - checked_));
  const auto nothing = [](std::size_t, std::uint64_t) {};
  if (for_each_in_range<2 * block_size>(block, size_, nothing) < block.size())
    throw_index_error(operation_, indices_, size_, rank_);
  checked_ += block.size();
}

}  // namespace longshore::detail
