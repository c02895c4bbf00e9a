// A distribution that is chosen at run time: any_distribution with two locators. A locator finds
// the owner and the offset of an index. Compiling all loops once per locator
// (array/distribution.hpp) takes most of the build time of this binding. The distributions block,
// cyclic and block-cyclic together have seven locators.
#pragma once

#include <longshore/array/any_distribution.hpp>

#include <algorithm>

namespace longshore::bindings {

struct chosen_distribution : any_distribution {
  class map : public any_distribution::map {
   public:
    map(chosen_distribution which, std::uint64_t size, int ranks)
        : any_distribution::map(which, size, ranks) {}

    /// Divides the index. For cyclic, the quotient is the offset and the remainder is the rank. For
    /// blocks of equal size, the quotient is the rank and the remainder is the offset.
    struct quotient_locator {
      invariant_divisor divisor;
      bool quotient_is_rank;
      location operator()(std::uint64_t index) const noexcept {
        const std::uint64_t quotient = divisor.quotient_of_half_range(index);
        const std::uint64_t rest = index - quotient * divisor.divisor();
        return {static_cast<int>(quotient_is_rank ? quotient : rest),
                quotient_is_rank ? rest : quotient};
      }
    };
    /// For blocks of two sizes and for block-cyclic.
    struct any_locator {
      block::map blocks;
      block_cyclic::map cycles;
      bool is_block_cyclic;
      location operator()(std::uint64_t index) const noexcept {
        return is_block_cyclic ? cycles.owner_offset(index) : blocks.owner_offset(index);
      }
    };

    /// Calls body(locate) once. The first locator is the cheaper one: it divides once, by a number
    /// that must be above 1 (invariant_divisor::quotient_of_half_range).
    template <class Body>
    decltype(auto) with_locator(Body&& body) const {
      const std::uint64_t items = block_items();
      const bool is_block = items == 0, is_cyclic = items == 1;
      const auto rank_count = static_cast<std::uint64_t>(ranks());
      const std::uint64_t divisor = is_cyclic ? rank_count : largest_local_size();
      const bool divides_evenly = is_cyclic || (is_block && size() == divisor * rank_count);
      if (divides_evenly && divisor > 1)
        return body(quotient_locator{invariant_divisor(divisor), is_block});
      // A cyclic distribution comes here only on one rank, where it is the same as block.
      return body(any_locator{
          block::map({}, size(), ranks()),
          block_cyclic::map({std::max<std::uint64_t>(items, 1)}, size(), ranks()), items > 1});
    }
  };
};

static_assert(distribution<chosen_distribution>);

}  // namespace longshore::bindings
