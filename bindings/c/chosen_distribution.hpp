// A distribution that is chosen when a program runs, for loops that are compiled here: those of the
// library know it as any_distribution. It has two locators (array/distribution.hpp) where block,
// cyclic and block-cyclic together have seven: loops are compiled for each, and that is what takes
// time to build.
#pragma once

#include <longshore/array/any_distribution.hpp>

#include <algorithm>

namespace longshore::bindings {

struct chosen_distribution : any_distribution {
  class map : public any_distribution::map {
   public:
    map(chosen_distribution which, std::uint64_t size, int ranks)
        : any_distribution::map(which, size, ranks) {}

    /// Cyclic, and blocks of one size: quotient and remainder are offset and rank, or rank and
    /// offset.
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
    /// Blocks of two sizes, and blocks that are dealt in turn: both maps, and which of them it is.
    struct any_locator {
      block::map pieces;
      block_cyclic::map dealt;
      bool is_dealt;
      location operator()(std::uint64_t index) const noexcept {
        return is_dealt ? dealt.owner_offset(index) : pieces.owner_offset(index);
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
