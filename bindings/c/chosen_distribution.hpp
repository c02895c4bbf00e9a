// A distribution that is chosen when a program runs: what the faces of other languages have, where types cannot choose. It has two locators
// (array/location.hpp) where block and cyclic together have five: loops are compiled for each, and that is what takes time to build.
#pragma once

#include <longshore/array/block.hpp>
#include <longshore/array/cyclic.hpp>

#include <variant>

namespace longshore::bindings {

struct chosen_distribution {
  static constexpr std::string_view name = "block or cyclic";
  std::uint64_t block_items = 0;  ///< 1: cyclic, else block

  class map {
    // Calls question(map) with the one that was chosen.
    template <class Question>
    [[nodiscard]] auto ask(Question question) const noexcept {
      if (const auto* const by_cycle = std::get_if<cyclic::map>(&one_)) return question(*by_cycle);
      return question(*std::get_if<block::map>(&one_));
    }

   public:
    map(chosen_distribution which, std::uint64_t size, int ranks)
        : one_(which.block_items == 1 ? either(cyclic::map({}, size, ranks)) : either(block::map({}, size, ranks))) {}

    [[nodiscard]] std::uint64_t block_items() const noexcept { return std::holds_alternative<cyclic::map>(one_) ? 1 : 0; }
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

    template <class Body>
    decltype(auto) with_locator(Body&& body) const {
      const bool by_cycle = block_items() == 1;
      const std::uint64_t piece = by_cycle ? static_cast<std::uint64_t>(ranks()) : largest_local_size();
      if (piece <= 1) return body(block::map({}, size(), ranks()));  // on one rank cyclic is the same
      if (by_cycle || size() == piece * static_cast<std::uint64_t>(ranks()))
        return body(quotient_locator{invariant_divisor(piece), !by_cycle});
      return body(*std::get_if<block::map>(&one_));
    }

    friend bool operator==(const map& a, const map& b) noexcept { return a.one_ == b.one_; }

   private:
    using either = std::variant<block::map, cyclic::map>;
    either one_;
  };
};

static_assert(distribution<chosen_distribution>);

}  // namespace longshore::bindings
