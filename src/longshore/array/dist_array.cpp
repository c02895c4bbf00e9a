// Checks the arguments of a distributed array before memory is allocated: all ranks must pass the
// same sizes, and the number of bytes must not overflow. Each error is thrown on all ranks.
#include <longshore/array/any_distribution.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

namespace longshore::detail {

static_assert(distribution<block> && distribution<cyclic> && distribution<block_cyclic> &&
              distribution<any_distribution>);

void check_same_array(team& team, std::string_view distribution, std::uint64_t size,
                      std::uint64_t block_items, std::string_view type, std::size_t element_bytes) {
  common_arguments same;
  same.add("distribution", distribution)
      .add("a size of", size)
      .add("blocks of", block_items)
      .add("elements of", fmt::format("{} ({} bytes)", type, element_bytes));
  agree_on_call(team, "a distributed array", same, [] {});
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
