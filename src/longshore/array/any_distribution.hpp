// A distribution whose kind (block, cyclic, block-cyclic) is chosen at run time. The interfaces of
// other languages use it, and loops that are compiled once for all distributions.
#pragma once

#include <longshore/array/block.hpp>
#include <longshore/array/block_cyclic.hpp>
#include <longshore/array/cyclic.hpp>

#include <type_traits>

namespace longshore {

struct any_distribution {
  static constexpr std::string_view name = "distributed";  // in messages
  /// 0 for block, 1 for cyclic, else elements per block of block-cyclic
  std::uint64_t block_items = 0;

  class map {
    // Calls body(map) with the chosen map.
    template <class Body>
    constexpr decltype(auto) with_map(const Body& body) const {
      if (kind_ == kind::block) return body(block_);
      if (kind_ == kind::cyclic) return body(cyclic_);
      return body(block_cyclic_);
    }

   public:
    constexpr map(const block::map& chosen) noexcept : kind_(kind::block), block_(chosen) {}
    constexpr map(const cyclic::map& chosen) noexcept : kind_(kind::cyclic), cyclic_(chosen) {}
    constexpr map(const block_cyclic::map& chosen) noexcept
        : kind_(kind::block_cyclic), block_cyclic_(chosen) {}
    constexpr map(any_distribution distribution, std::uint64_t size, int ranks) noexcept
        : map(map_of(distribution, size, ranks)) {}

    /// The value of any_distribution::block_items for this map.
    [[nodiscard]] constexpr std::uint64_t block_items() const noexcept {
      if (kind_ == kind::block_cyclic) return block_cyclic_.block_items();
      return kind_ == kind::cyclic ? 1 : 0;
    }
    [[nodiscard]] constexpr std::uint64_t size() const noexcept {
      return with_map([](const auto& chosen) { return chosen.size(); });
    }
    [[nodiscard]] constexpr int ranks() const noexcept {
      return with_map([](const auto& chosen) { return chosen.ranks(); });
    }
    [[nodiscard]] constexpr std::uint64_t local_size(int rank) const noexcept {
      return with_map([rank](const auto& chosen) { return chosen.local_size(rank); });
    }
    [[nodiscard]] constexpr std::uint64_t largest_local_size() const noexcept {
      return local_size(0);
    }
    [[nodiscard]] constexpr location owner_offset(std::uint64_t index) const noexcept {
      return with_map([index](const auto& chosen) { return chosen.owner_offset(index); });
    }
    [[nodiscard]] constexpr std::uint64_t index_of(int rank, std::uint64_t offset) const noexcept {
      return with_map([rank, offset](const auto& chosen) { return chosen.index_of(rank, offset); });
    }

    /// Calls body(locate) once, with the cheapest locator.
    template <class Body>
    constexpr decltype(auto) with_locator(Body&& body) const {
      return with_map(
          [&body](const auto& chosen) -> decltype(auto) { return chosen.with_locator(body); });
    }

    friend constexpr bool operator==(const map& a, const map& b) noexcept {
      return a.size() == b.size() && a.ranks() == b.ranks() && a.block_items() == b.block_items();
    }

   private:
    enum class kind : std::uint8_t { block, cyclic, block_cyclic };

    static constexpr map map_of(any_distribution distribution, std::uint64_t size,
                                int ranks) noexcept {
      if (distribution.block_items == 0) return longshore::block::map({}, size, ranks);
      if (distribution.block_items == 1) return longshore::cyclic::map({}, size, ranks);
      return longshore::block_cyclic::map({distribution.block_items}, size, ranks);
    }

    static_assert(std::is_trivially_copyable_v<longshore::block::map> &&
                  std::is_trivially_copyable_v<longshore::cyclic::map> &&
                  std::is_trivially_copyable_v<longshore::block_cyclic::map>);
    kind kind_;
    union {  // all members are trivially copyable
      longshore::block::map block_;
      longshore::cyclic::map cyclic_;
      longshore::block_cyclic::map block_cyclic_;
    };
  };
};

}  // namespace longshore
