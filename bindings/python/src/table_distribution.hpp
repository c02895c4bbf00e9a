// The distribution of a Table: block, cyclic or block-cyclic, chosen at run time as in the C
// interface. Only one locator exists, so that loops are compiled once instead of seven times.
// Finding the owner of an index costs some instructions more than with the distributions of the
// library, which assign the same elements to each rank.
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
      const auto rank_count = static_cast<std::uint64_t>(ranks);
      if (kind.block_items > 0) {
        locate_.kind = kind.block_items == 1 ? layout::cyclic : layout::block_cyclic;
        locate_.early = invariant_divisor(rank_count);
        locate_.later = invariant_divisor(kind.block_items == 1 ? rank_count : kind.block_items);
        return;
      }
      const std::uint64_t short_piece = size / rank_count;
      locate_.later = invariant_divisor(std::max<std::uint64_t>(short_piece, 1));
      locate_.early = invariant_divisor(short_piece + 1);
      locate_.long_pieces = size % rank_count;
      locate_.early_end = locate_.long_pieces * (short_piece + 1);
    }

    [[nodiscard]] location owner_offset(std::uint64_t index) const noexcept {
      return locate_(index);
    }

    enum class layout : std::uint8_t { block, cyclic, block_cyclic };
    /// Finds the owner of an index by division. For block, the quotient is the rank and the
    /// remainder the offset; the first pieces, before `early_end`, may be longer by one element.
    /// For cyclic, the quotient is the offset and the remainder the rank. For block_cyclic,
    /// division by `later` gives the block, and division of the block by `early` gives the number
    /// of the block on its rank.
    struct locator {
      invariant_divisor early, later;
      std::uint64_t early_end = 0, long_pieces = 0;
      layout kind = layout::block;
      location operator()(std::uint64_t index) const noexcept {
        // For cyclic and block_cyclic, early_end and long_pieces are 0: `i` is the index, and the
        // first division is by `later`. For block, the pieces after early_end are shorter by one
        // element: index - long_pieces is the index as if all pieces were that short.
        const bool in_early = index < early_end;
        const std::uint64_t i = in_early ? index : index - long_pieces;
        const invariant_divisor& piece = in_early ? early : later;
        const std::uint64_t quotient = piece.quotient(i);
        const std::uint64_t rest = i - quotient * piece.divisor();
        if (kind == layout::block) return {static_cast<int>(quotient), rest};
        if (kind == layout::cyclic) return {static_cast<int>(rest), quotient};
        const std::uint64_t local_block = early.quotient(quotient);
        return {static_cast<int>(quotient - local_block * early.divisor()),
                local_block * later.divisor() + rest};
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
