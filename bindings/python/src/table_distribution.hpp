// The distribution of a Table: block, cyclic or block-cyclic, chosen at run time as in the C
// interface. One locator serves all three, so that loops are compiled once instead of seven times.
// An index costs some instructions more than with the distributions of the library. The maps agree.
#pragma once

#include "../../c/chosen_distribution.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace longshore::python {

struct table_distribution : bindings::chosen_distribution {
  static constexpr std::string_view name = "of a Table";  // in messages

  class map : public bindings::chosen_distribution::map {
    using chosen = bindings::chosen_distribution::map;

   public:
    map(table_distribution kind, std::uint64_t size, int ranks) : chosen(kind, size, ranks) {
      const auto all = static_cast<std::uint64_t>(ranks);
      if (kind.block_items > 0) {
        locate_.kind = kind.block_items == 1 ? layout::cyclic : layout::block_cyclic;
        locate_.early = invariant_divisor(all);
        locate_.later = invariant_divisor(kind.block_items == 1 ? all : kind.block_items);
        return;
      }
      const std::uint64_t short_piece = size / all;
      locate_.later = invariant_divisor(std::max<std::uint64_t>(short_piece, 1));
      locate_.early = invariant_divisor(short_piece + 1);
      locate_.long_pieces = size % all;
      locate_.early_end = locate_.long_pieces * (short_piece + 1);
    }

    [[nodiscard]] location owner_offset(std::uint64_t index) const noexcept {
      return locate_(index);
    }

    enum class layout : std::uint8_t { block, cyclic, block_cyclic };
    /// Divides an index. block: the quotient is the rank, the remainder the offset; the first
    /// pieces may be longer by one element. cyclic: the quotient is the offset, the remainder the
    /// rank. block_cyclic: two divisions; `later` gives the block, `early` the round of blocks.
    struct locator {
      invariant_divisor early, later;
      std::uint64_t early_end = 0, long_pieces = 0;
      layout kind = layout::block;
      location operator()(std::uint64_t index) const noexcept {
        const bool in_early = index < early_end;
        const std::uint64_t i = in_early ? index : index - long_pieces;
        const invariant_divisor& piece = in_early ? early : later;
        const std::uint64_t quotient = piece.quotient(i);
        const std::uint64_t rest = i - quotient * piece.divisor();
        if (kind == layout::block) return {static_cast<int>(quotient), rest};
        if (kind == layout::cyclic) return {static_cast<int>(rest), quotient};
        const std::uint64_t round = early.quotient(quotient);
        return {static_cast<int>(quotient - round * early.divisor()),
                round * later.divisor() + rest};
      }
    };
    template <class Body>
    decltype(auto) with_locator(Body&& body) const {
      return body(locate_);
    }

   private:
    locator locate_;
  };
};

static_assert(distribution<table_distribution>);

}  // namespace longshore::python
