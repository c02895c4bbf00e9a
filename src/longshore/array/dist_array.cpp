#include <longshore/array/dist_array.hpp>

#include <algorithm>
#include <array>

namespace longshore::detail {

void check_same_array(team& team, std::string_view distribution, std::uint64_t size,
                      std::uint64_t block_items) {
  // One reduction: the largest of n and of -n are the largest and the smallest n. Numbers beyond
  // 2^62 are one and the same mistake.
  const auto counted = [](std::uint64_t n) {
    return static_cast<std::int64_t>(std::min(n, most_elements + 1));
  };
  const std::int64_t asked = counted(size), blocks = counted(block_items);
  std::array<std::int64_t, 4> extremes{asked, -asked, blocks, -blocks};
  team.allreduce(std::span<std::int64_t>(extremes), reduction::max);
  if (extremes[0] != -extremes[1])
    fail(errc::usage,
         "{} array: rank {} asked for {} elements, the ranks for {} to {}: the size must be the "
         "same on all ranks",
         distribution, team.rank(), size, -extremes[1], extremes[0]);
  if (extremes[2] != -extremes[3])
    fail(errc::usage,
         "{} array: rank {} asked for blocks of {}, the ranks for {} to {}: the size of blocks "
         "must be the same on all ranks",
         distribution, team.rank(), block_items, -extremes[3], extremes[2]);
}

void check_array_size(const team& team, std::string_view distribution, std::uint64_t size,
                      std::uint64_t largest_local_size, std::size_t element_bytes) {
  // All parts together must be countable with room to round them up to pages.
  constexpr std::size_t most_bytes = std::size_t{1} << 62;
  if (size > most_elements ||
      largest_local_size > most_bytes / element_bytes / static_cast<std::size_t>(team.size()))
    fail(errc::out_of_memory,
         "{} array of {} elements of {} bytes over {} ranks: more than any memory holds (was a "
         "negative size given?)",
         distribution, size, element_bytes, team.size());
}

}  // namespace longshore::detail
