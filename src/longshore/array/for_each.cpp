// The error of for_each over arrays that do not match. It is compiled once, outside of the
// templates of for_each.hpp.
#include <longshore/array/for_each.hpp>

namespace longshore::detail {

void fail_different_distribution(std::size_t position, std::string_view distribution,
                                 std::uint64_t size, int ranks, std::uint64_t first_size,
                                 int first_ranks) {
  if (size == first_size && ranks == first_ranks)
    fail(errc::usage,
         "for_each over arrays with different distributions: array {} is {} in other blocks than "
         "array 1; use equal blocks",
         position, distribution);
  fail(errc::usage,
       "for_each over arrays that differ: array 1 has {} elements over {} ranks, array {} has {} "
       "over {}; they must be equal",
       first_size, first_ranks, position, size, ranks);
}

}  // namespace longshore::detail
