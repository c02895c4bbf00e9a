// block or cyclic, chosen at run time, with one locator for both: loops are compiled once instead of seven times. It costs an index some
// instructions more than block and cyclic of the library, whose maps it agrees with.
#pragma once

#include <longshore/array/block.hpp>
#include <longshore/array/cyclic.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace longshore::python {

struct table_distribution {
  static constexpr std::string_view name = "of a Table";  // in messages
  bool is_cyclic = false;

  class map {
   public:
    map(table_distribution kind, std::uint64_t size, int ranks) noexcept
        : block_(block{}, size, ranks), cyclic_(cyclic{}, size, ranks), is_cyclic_(kind.is_cyclic) {
      const auto all = static_cast<std::uint64_t>(ranks);
      const std::uint64_t short_piece = size / all;
      locate_.is_cyclic = is_cyclic_;
      locate_.later = invariant_divisor(is_cyclic_ ? all : std::max<std::uint64_t>(short_piece, 1));
      locate_.early = invariant_divisor(is_cyclic_ ? all : short_piece + 1);
      locate_.long_pieces = is_cyclic_ ? 0 : size % all;
      locate_.early_end = locate_.long_pieces * (short_piece + 1);
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return block_.size(); }
    [[nodiscard]] int ranks() const noexcept { return block_.ranks(); }
    [[nodiscard]] std::uint64_t local_size(int rank) const noexcept {
      return is_cyclic_ ? cyclic_.local_size(rank) : block_.local_size(rank);
    }
    [[nodiscard]] std::uint64_t largest_local_size() const noexcept { return local_size(0); }
    [[nodiscard]] location owner_offset(std::uint64_t index) const noexcept { return locate_(index); }
    [[nodiscard]] std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      return is_cyclic_ ? cyclic_.index_of(rank, offset) : block_.index_of(rank, offset);
    }

    /// A quotient and a rest: of a block they are rank and offset, of cyclic offset and rank. The first pieces of a block may be
    /// longer by one.
    struct locator {
      invariant_divisor early, later;
      std::uint64_t early_end = 0, long_pieces = 0;
      bool is_cyclic = false;
      location operator()(std::uint64_t index) const noexcept {
        const bool in_early = index < early_end;
        const std::uint64_t i = in_early ? index : index - long_pieces;
        const invariant_divisor& piece = in_early ? early : later;
        const std::uint64_t quotient = piece.quotient(i);
        const std::uint64_t rest = i - quotient * piece.divisor();
        return {static_cast<int>(is_cyclic ? rest : quotient), is_cyclic ? quotient : rest};
      }
    };
    template <class Body>
    decltype(auto) with_locator(Body&& body) const {
      return body(locate_);
    }

    friend bool operator==(const map& a, const map& b) noexcept {
      return a.size() == b.size() && a.ranks() == b.ranks() && a.is_cyclic_ == b.is_cyclic_;
    }

   private:
    block::map block_;
    cyclic::map cyclic_;
    locator locate_;
    bool is_cyclic_;
  };
};

static_assert(distribution<table_distribution>);

}  // namespace longshore::python
