#include <longshore/array/for_each.hpp>

namespace longshore::detail {

void refuse_unequal(std::size_t position, std::string_view distribution, std::uint64_t size,
                    int ranks, std::uint64_t first_size, int first_ranks) {
  if (size == first_size && ranks == first_ranks)
    fail(errc::usage,
         "for_each over arrays that are not distributed alike: array {} is {} in other blocks than "
         "array 1",
         position, distribution);
  fail(errc::usage,
       "for_each over arrays that differ: array 1 has {} elements over {} ranks, array {} has {} "
       "over {}",
       first_size, first_ranks, position, size, ranks);
}

}  // namespace longshore::detail
