// Checks a list of indices while it is read in order: whole blocks at a time, before the first
// index of a block is used.
#pragma once

#include <longshore/gather/detail/for_each_in_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace longshore::detail {

/// The indices of one call, for loops that may throw for an index out of range.
class checked_indices {
 public:
  checked_indices(const char* operation, std::span<const std::int64_t> indices, std::uint64_t size,
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
  static constexpr std::size_t block =
      512;  // 4 KiB: it is still in the first cache when it is used

  [[gnu::noinline]] void check_block() {
    const auto next = indices_.subspan(checked_, std::min(block, indices_.size() - checked_));
    if (for_each_in_range<2 * block>(next, size_, [](std::size_t, std::uint64_t) {}) < next.size())
      throw_index_error(operation_, indices_, size_, rank_);
    checked_ += next.size();
  }

  const char* operation_;
  std::span<const std::int64_t> indices_;
  std::uint64_t size_;
  int rank_;
  std::size_t checked_ = 0;
};

}  // namespace longshore::detail
