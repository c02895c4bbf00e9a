// A distribution that is chosen at run time, for the loops of this binding. It is any_distribution
// with fewer locators (array/distribution.hpp). Loops are compiled once per locator, which takes most
// of the build time: this class has two, while block, cyclic and block-cyclic together have seven.
#pragma once

#include <longshore/array/any_distribution.hpp>

#include <algorithm>

namespace longshore::bindings {

struct chosen_distribution : any_distribution {
  class map : public any_distribution::map {
   public:
    map(chosen_distribution which, std::uint64_t size, int ranks)
        : any_distribution::map(which, size, ranks) {}

    /// For cyclic, and for blocks of equal size. Quotient and remainder of an index are (offset,
    /// rank), or (rank, offset).
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
    /// For blocks of two sizes and for block-cyclic. It holds the map of each and a flag.
    struct any_locator {
      block::map blocks;
      block_cyclic::map cycles;
      bool is_block_cyclic;
      location operator()(std::uint64_t index) const noexcept {
        return is_block_cyclic ? cycles.owner_offset(index) : blocks.owner_offset(index);
      }
    };

    template <class Body>
    decltype(auto) with_locator(Body&& body) const {
      const std::uint64_t items = block_items();
      const std::uint64_t piece =
          items == 1 ? static_cast<std::uint64_t>(ranks()) : largest_local_size();
      if (items <= 1 && piece > 1 &&
          (items == 1 || size() == piece * static_cast<std::uint64_t>(ranks())))
        return body(quotient_locator{invariant_divisor(piece), items == 0});
      // On one rank cyclic is the same as block.
      return body(any_locator{
          block::map({}, size(), ranks()),
          block_cyclic::map({std::max<std::uint64_t>(items, 1)}, size(), ranks()), items > 1});
    }
  };
};

static_assert(distribution<chosen_distribution>);

}  // namespace longshore::bindings
