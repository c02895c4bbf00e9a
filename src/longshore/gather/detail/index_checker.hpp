// Checks a list of indices while a loop reads them in order: a whole block at a time, before the
// loop gets the first index of the block.
#pragma once

#include <longshore/gather/detail/for_each_in_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace longshore::detail {

/// Gives the indices of one call of a plan, and checks each before it is given.
class index_checker {
 public:
  index_checker(const char* operation, std::span<const std::int64_t> indices, std::uint64_t size,
                int rank)
      : operation_(operation), indices_(indices), size_(size), rank_(rank) {}

  /// The index at position `i`. Read the positions in order; a position may be read again. Throws
  /// errc::usage if the block of `i` has an index outside the table.
  [[nodiscard]] std::uint64_t operator[](std::size_t i) {
    if (i >= checked_) [[unlikely]]
      check_block();
    return static_cast<std::uint64_t>(indices_[i]);
  }

 private:
  static constexpr std::size_t block_size = 512;  // 4 KiB, which stay in the L1 cache until used

  [[gnu::noinline]] void check_block() {
    const auto block = indices_.subspan(checked_, std::min(block_size, indices_.size() - checked_));
    const auto nothing = [](std::size_t, std::uint64_t) {};
    if (for_each_in_range<2 * block_size>(block, size_, nothing) < block.size())
      throw_index_error(operation_, indices_, size_, rank_);
    checked_ += block.size();
  }

  const char* operation_;
  std::span<const std::int64_t> indices_;
  std::uint64_t size_;  // of the table
  int rank_;
  std::size_t checked_ = 0;  // positions before this one are checked
};

}  // namespace longshore::detail
