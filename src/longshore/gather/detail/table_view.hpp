// table_view: a table as the loops of gather, scatter and updates see it, with its map and the
// addresses of the parts of all ranks.
//
// It also erases types: a loop that only moves elements needs just their size. So plans for all
// scalar types of 4 bytes, in all distributions of the library, share one set of loops; those of 8
// bytes share another. The library has these loops compiled. For other types and distributions the
// loops are compiled with the code that uses them.
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

/// Elements of 4 and 8 bytes that are only moved. Accesses to them may alias accesses to any type.
enum class [[gnu::may_alias]] word32 : std::uint32_t{};
enum class [[gnu::may_alias]] word64 : std::uint64_t{};

/// Whether the compiled loops of the library support this distribution.
template <class Distribution>
inline constexpr bool is_common_distribution =
    std::same_as<Distribution, block> || std::same_as<Distribution, cyclic> ||
    std::same_as<Distribution, block_cyclic> || std::derived_from<Distribution, any_distribution>;

/// Whether the library has compiled loops that move such elements. Scalars are aligned to their
/// size, as words are.
template <class T, class Distribution>
inline constexpr bool has_compiled_move = std::is_scalar_v<T> &&
                                          (sizeof(T) == sizeof(word32) ||
                                           sizeof(T) == sizeof(word64)) &&
                                          is_common_distribution<Distribution>;

/// The types of element and distribution that loops work on.
template <class T, class Distribution>
using erased_element =
    std::conditional_t<!has_compiled_move<T, Distribution>, T,
                       std::conditional_t<sizeof(T) == sizeof(word32), word32, word64>>;
template <class T, class Distribution>
using erased_distribution =
    std::conditional_t<has_compiled_move<T, Distribution>, any_distribution, Distribution>;

/// A view of a table, which must outlive it. Memory: 8 bytes per rank.
template <trivially_copyable T, distribution Distribution>
class table_view {
 public:
  using map_type = typename Distribution::map;

  /// Local. The elements of the table have the size of T and are accessed as T.
  template <trivially_copyable Element, distribution Its>
  requires(sizeof(Element) == sizeof(T) &&
           std::convertible_to<const typename Its::map&,
                               map_type>) explicit table_view(const dist_array<Element, Its>& table)
      : team_(&table.team()),
        map_(table.map()),
        segment_(&table.segment()),
        local_(reinterpret_cast<T*>(segment_->local()), table.local().size()),
        parts_(table.direct_parts().size()),
        all_direct_(table.is_all_direct()) {
    for (std::size_t rank = 0; rank < parts_.size(); ++rank)
      parts_[rank] = reinterpret_cast<T*>(segment_->direct(static_cast<int>(rank)));
  }

  // As in dist_array.
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
  std::vector<T*> parts_;  // by rank; null if this rank cannot reach it
  bool all_direct_;
};

}  // namespace longshore::detail
