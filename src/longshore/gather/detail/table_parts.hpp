// A table as the loops of gather, scatter and updates see it: its map, and where the parts of all
// ranks lie.
//
// What only moves elements needs no more of their type than its size. So plans of all types of 4
// bytes share one set of compiled loops, those of 8 bytes another, whichever of the distributions
// of the library they have; it is part of the library. Other types and other distributions have
// loops of their own, which are compiled where they are used.
#pragma once

#include <longshore/array/any_distribution.hpp>
#include <longshore/array/dist_array.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace longshore::detail {

/// An element that is only moved, whatever it is: accesses may alias those of any type.
enum class [[gnu::may_alias]] word32 : std::uint32_t{};
enum class [[gnu::may_alias]] word64 : std::uint64_t{};

/// The distributions that the compiled loops of the library know.
template <class Distribution>
inline constexpr bool is_common_distribution =
    std::same_as<Distribution, block> || std::same_as<Distribution, cyclic> ||
    std::same_as<Distribution, block_cyclic> || std::derived_from<Distribution, any_distribution>;

/// Whether the library has loops that move such elements. Scalars lie at multiples of their size,
/// as words do.
template <class T, class Distribution>
inline constexpr bool is_moved_as_word = std::is_scalar_v<T> &&
                                         (sizeof(T) == sizeof(word32) ||
                                          sizeof(T) == sizeof(word64)) &&
                                         is_common_distribution<Distribution>;

/// What loops that move elements take them for.
template <class T, class Distribution>
using moved_element =
    std::conditional_t<!is_moved_as_word<T, Distribution>, T,
                       std::conditional_t<sizeof(T) == sizeof(word32), word32, word64>>;
template <class T, class Distribution>
using moved_distribution =
    std::conditional_t<is_moved_as_word<T, Distribution>, any_distribution, Distribution>;

/// Elements of T in the distribution of a table, which must outlive it. Memory: 8 bytes per rank.
template <trivially_copyable T, distribution Distribution>
class table_parts {
 public:
  using map_type = typename Distribution::map;

  /// Local. The elements of the table have the size of T, and are accessed as T.
  template <trivially_copyable Element, distribution Its>
  requires(
      sizeof(Element) == sizeof(T) &&
      std::convertible_to<const typename Its::map&,
                          map_type>) explicit table_parts(const dist_array<Element, Its>& table)
      : team_(&table.team()),
        map_(table.map()),
        segment_(&table.segment()),
        local_(reinterpret_cast<T*>(segment_->local()), table.local().size()),
        parts_(table.direct_parts().size()),
        all_direct_(table.is_all_direct()) {
    for (std::size_t rank = 0; rank < parts_.size(); ++rank)
      parts_[rank] = reinterpret_cast<T*>(segment_->direct(static_cast<int>(rank)));
  }

  // As those of dist_array.
  [[nodiscard]] longshore::team& team() const noexcept { return *team_; }
  [[nodiscard]] const map_type& map() const noexcept { return map_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return map_.size(); }
  [[nodiscard]] std::span<T> local() const noexcept { return local_; }
  [[nodiscard]] std::span<T* const> direct_parts() const noexcept { return parts_; }
  [[nodiscard]] bool is_all_direct() const noexcept { return all_direct_; }
  [[nodiscard]] longshore::segment& segment() const noexcept { return *segment_; }

 private:
  longshore::team* team_;
  map_type map_;
  longshore::segment* segment_;
  std::span<T> local_;
  std::vector<T*> parts_;  // by rank; null where it cannot be reached
  bool all_direct_;
};

}  // namespace longshore::detail
