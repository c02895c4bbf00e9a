// Checks the arguments of a distributed array before memory is allocated: all ranks must pass the
// same sizes, and the number of bytes must not overflow. Each error is thrown on all ranks.
#include <longshore/array/dist_array.hpp>

#include <algorithm>
#include <array>

namespace longshore::detail {

void check_same_array(team& team, std::string_view distribution, std::uint64_t size,
                      std::uint64_t block_items) {
  // The maxima of n and of -n give the largest and the smallest n in one reduction. All numbers
  // beyond 2^62 count as equal, because check_array_size refuses them.
  const auto limited = [](std::uint64_t n) {
    return static_cast<std::int64_t>(std::min(n, max_elements + 1));
  };
  const std::int64_t elements = limited(size), items = limited(block_items);
  std::array<std::int64_t, 4> extremes{elements, -elements, items, -items};
  team.allreduce(std::span<std::int64_t>(extremes), reduction::max);
  if (extremes[0] != -extremes[1])
    fail(errc::usage,
         "{} array: rank {} asked for {} elements, all ranks for {} to {}: give the same size on "
         "all ranks",
         distribution, team.rank(), size, -extremes[1], extremes[0]);
  if (extremes[2] != -extremes[3])
    fail(errc::usage,
         "{} array: rank {} asked for blocks of {}, all ranks for {} to {}: give the same size of "
         "blocks on all ranks",
         distribution, team.rank(), block_items, -extremes[3], extremes[2]);
}

void check_array_size(const team& team, std::string_view distribution, std::uint64_t size,
                      std::uint64_t largest_local_size, std::size_t element_bytes) {
  // With at most 2^62 bytes, rounding all parts up to pages cannot overflow.
  constexpr std::size_t max_bytes = std::size_t{1} << 62;
  if (size > max_elements ||
      largest_local_size > max_bytes / element_bytes / static_cast<std::size_t>(team.size()))
    fail(errc::out_of_memory,
         "{} array of {} elements of {} bytes over {} ranks: more than any memory holds; check the "
         "size (a negative one becomes huge)",
         distribution, size, element_bytes, team.size());
}

}  // namespace longshore::detail
