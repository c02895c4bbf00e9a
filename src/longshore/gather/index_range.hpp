// Whether indices lie in the table, found at the speed of memory, before anything is read with them.
#pragma once

#include <cstdint>
#include <span>

namespace longshore::gathering {

/// Collects what the indices of a stretch say: bit 63 ends up set when one of them is below 0 or above `last`. Two operations that
/// vectorise, no branch. REQUIRES: last < 2^63.
struct range_flags {
  std::uint64_t last;
  std::uint64_t flags = 0;
  void look_at(std::uint64_t index) noexcept { flags |= index | (last - index); }
  [[nodiscard]] bool all_inside() const noexcept { return flags >> 63 == 0; }
};

/// Whether all indices are in [0, size). REQUIRES: size <= 2^63.
[[nodiscard]] bool all_in_range(std::span<const std::int64_t> indices, std::uint64_t size) noexcept;

/// Throws errc::usage for the first index outside [0, size), which must be there: names it, its position and the rank.
[[noreturn]] void refuse_indices(std::span<const std::int64_t> indices, std::uint64_t size, int rank);

}  // namespace longshore::gathering
