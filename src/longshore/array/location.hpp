// Where an element of a distributed array lies, and what every distribution offers.
//
// A distribution (block, cyclic, block_cyclic) is what users name. Its map is the distribution of n
// elements over P ranks:
//
//     location at = map.owner_offset(index);            // inline, O(1), any index below size()
//     std::uint64_t index = map.index_of(at.rank, at.offset);
//
// A hot loop takes the decisions that depend on n and P only once, outside:
//
//     map.with_locator([&](auto locate) { for (...) { const auto [rank, offset] = locate(index[i]); ... } });
//
// where `locate` is a small value without branches: shifts for powers of two, else one
// multiplication per quotient. The published index-gather runs show why: once messages are
// aggregated, indexing decides (block 2.79, optimised 3.02 GB/s/node).
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace longshore {

struct location {
  int rank = 0;
  std::uint64_t offset = 0;  ///< in elements, from the beginning of the rank's part
  friend constexpr bool operator==(const location&, const location&) noexcept = default;
};

/// Most elements that an array may have: more than any memory holds, and low enough for the fast
/// quotients.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 62;

template <class Map>
concept distribution_map = std::copyable<Map> && std::equality_comparable<Map> &&
    requires(const Map map, int rank, std::uint64_t index) {
  { map.size() } -> std::same_as<std::uint64_t>;                // elements in all
  { map.ranks() } -> std::same_as<int>;                         //
  { map.local_size(rank) } -> std::same_as<std::uint64_t>;      // elements of one rank
  { map.largest_local_size() } -> std::same_as<std::uint64_t>;  // of the rank that has most
  { map.owner_offset(index) } -> std::same_as<location>;        // REQUIRES: index < size()
  // REQUIRES: offset < local_size(rank)
  { map.index_of(rank, index) } -> std::same_as<std::uint64_t>;
};

template <class D>
concept distribution = std::copyable<D> && distribution_map<typename D::map> &&
    requires(const D d, std::uint64_t size, int ranks) {
  typename D::map;
  // REQUIRES: size <= most_elements, ranks >= 1
  {typename D::map(d, size, ranks)};
  { D::name } -> std::convertible_to<std::string_view>;  // as typed: "block", "cyclic", ...
};

}  // namespace longshore
