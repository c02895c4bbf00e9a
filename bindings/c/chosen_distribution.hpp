// A distribution that is chosen when a program runs: what the faces of other languages have, where types cannot choose. It has two locators
// (array/location.hpp) where block, cyclic and block-cyclic together have seven: loops are compiled for each, and that is what takes time to
// build.
#pragma once

#include <longshore/array/block.hpp>
#include <longshore/array/block_cyclic.hpp>
#include <longshore/array/cyclic.hpp>

#include <variant>

namespace longshore::bindings {

struct chosen_distribution {
  static constexpr std::string_view name = "distributed";  // in messages
  std::uint64_t block_items = 0;                           ///< 0: block; 1: cyclic; more: block-cyclic with blocks of so many

  class map {
    // Calls question(map) with the one that was chosen.
    template <class Question>
    [[nodiscard]] auto ask(Question question) const noexcept {
      if (const auto* const by_cycle = std::get_if<cyclic::map>(&one_)) return question(*by_cycle);
      if (const auto* const by_blocks = std::get_if<block_cyclic::map>(&one_)) return question(*by_blocks);
      return question(*std::get_if<block::map>(&one_));
    }

   public:
    map(chosen_distribution which, std::uint64_t size, int ranks) : one_(make(which, size, ranks)) {}

    [[nodiscard]] std::uint64_t block_items() const noexcept {
      if (const auto* const by_blocks = std::get_if<block_cyclic::map>(&one_)) return by_blocks->block_items();
      return std::holds_alternative<cyclic::map>(one_) ? 1 : 0;
    }
    [[nodiscard]] std::uint64_t size() const noexcept {
      return ask([](const auto& m) { return m.size(); });
    }
    [[nodiscard]] int ranks() const noexcept {
      return ask([](const auto& m) { return m.ranks(); });
    }
    [[nodiscard]] std::uint64_t local_size(int rank) const noexcept {
      return ask([rank](const auto& m) { return m.local_size(rank); });
    }
    [[nodiscard]] std::uint64_t largest_local_size() const noexcept { return local_size(0); }
    [[nodiscard]] location owner_offset(std::uint64_t index) const noexcept {
      return ask([index](const auto& m) { return m.owner_offset(index); });
    }
    [[nodiscard]] std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      return ask([rank, offset](const auto& m) { return m.index_of(rank, offset); });
    }

    /// Cyclic, and blocks of one size: quotient and remainder are offset and rank, or rank and offset.
    struct quotient_locator {
      invariant_divisor divisor;
      bool quotient_is_rank;
      location operator()(std::uint64_t index) const noexcept {
        const std::uint64_t quotient = divisor.quotient_of_half_range(index);
        const std::uint64_t rest = index - quotient * divisor.divisor();
        return {static_cast<int>(quotient_is_rank ? quotient : rest), quotient_is_rank ? rest : quotient};
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
      const std::uint64_t piece = items == 1 ? static_cast<std::uint64_t>(ranks()) : largest_local_size();
      if (items <= 1 && piece > 1 && (items == 1 || size() == piece * static_cast<std::uint64_t>(ranks())))
        return body(quotient_locator{invariant_divisor(piece), items == 0});
      // On one rank cyclic is the same as block.
      return body(any_locator{block::map({}, size(), ranks()),
                              block_cyclic::map({std::max<std::uint64_t>(items, 1)}, size(), ranks()), items > 1});
    }

    friend bool operator==(const map& a, const map& b) noexcept { return a.one_ == b.one_; }

   private:
    using either = std::variant<block::map, cyclic::map, block_cyclic::map>;
    static either make(chosen_distribution which, std::uint64_t size, int ranks) {
      if (which.block_items == 0) return block::map({}, size, ranks);
      if (which.block_items == 1) return cyclic::map({}, size, ranks);
      return block_cyclic::map({which.block_items}, size, ranks);
    }
    either one_;
  };
};

static_assert(distribution<chosen_distribution>);

}  // namespace longshore::bindings
