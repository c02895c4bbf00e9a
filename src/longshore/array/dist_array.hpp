// An array distributed over all ranks. Each rank holds a part in symmetric memory.
#pragma once

#include <longshore/array/block.hpp>
#include <longshore/array/block_cyclic.hpp>
#include <longshore/array/cyclic.hpp>
#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/detail/type_name.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/team.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace longshore {
namespace detail {

/// Collective: one allreduce of 24 bytes. Throws errc::usage on all ranks unless all ranks gave the
/// same size, the same block size (0 for distributions without blocks) and the same type.
void check_same_array(team& team, std::string_view distribution, std::uint64_t size,
                      std::uint64_t block_items, std::string_view type, std::size_t element_bytes);
/// Throws errc::out_of_memory if the number of bytes overflows. Whether the host has the memory is
/// checked later, by team::allocate().
void check_array_size(const team& team, std::string_view distribution, std::uint64_t size,
                      std::uint64_t largest_local_size, std::size_t element_bytes);

}  // namespace detail

/// A distributed array of `size` elements, initially zero. Construction and destruction are
/// collective.
///
///     longshore::dist_array<std::int64_t, longshore::cyclic> table(team, n);
///     longshore::dist_array<double, longshore::block_cyclic> blocks(team, n, {.block_items = 64});
///
/// Memory per rank: sizeof(T) x the elements of the largest part, rounded up to pages. The
/// constructor does not touch the pages, so the first writer decides on which NUMA nodes the pages
/// lie. The team must outlive the array.
template <trivially_copyable T, distribution Distribution = block>
class dist_array {
 public:
  using value_type = T;
  using distribution_type = Distribution;
  using map_type = typename Distribution::map;

  /// Collective. Throws errc::out_of_memory on all ranks if a node does not have the memory,
  /// errc::usage on all ranks if the ranks pass different sizes, distributions or types. `type`
  /// names the element type; a program that stores elements of one type as another type passes it.
  dist_array(longshore::team& team, std::uint64_t size, Distribution distribution = {},
             std::string_view type = type_name<T>())
      : dist_array(team, checked_map(team, size, distribution, type)) {}

  [[nodiscard]] longshore::team& team() const noexcept { return *team_; }
  [[nodiscard]] const map_type& map() const noexcept { return map_; }
  /// Number of elements on all ranks together.
  [[nodiscard]] std::uint64_t size() const noexcept { return map_.size(); }

  /// This rank's elements, aligned to a page.
  [[nodiscard]] std::span<T> local() noexcept {
    return {as_elements(segment_->local()), local_size_};
  }
  [[nodiscard]] std::span<const T> local() const noexcept {
    return {as_elements(segment_->local()), local_size_};
  }

  /// For each rank, a pointer to the first element of that rank's part; null if this rank cannot
  /// load and store there. Get the span once, outside of loops.
  [[nodiscard]] std::span<T* const> direct_parts() noexcept { return parts_; }
  [[nodiscard]] std::span<const T* const> direct_parts() const noexcept {
    return {parts_.data(), parts_.size()};
  }
  /// Whether this rank can load and store in the parts of all ranks.
  [[nodiscard]] bool is_all_direct() const noexcept { return all_direct_; }

  /// The memory of the array. In a rank's part, element `offset` begins at byte offset x sizeof(T).
  [[nodiscard]] longshore::segment& segment() const noexcept { return *segment_; }

 private:
  // Checks the arguments and returns the map. Every error is thrown on all ranks.
  static map_type checked_map(longshore::team& team, std::uint64_t size,
                              const Distribution& distribution, std::string_view type) {
    detail::check_same_array(team, Distribution::name, size, block_items_of(distribution), type,
                             sizeof(T));
    if constexpr (std::same_as<Distribution, block_cyclic>)
      if (distribution.block_items == 0)
        fail(errc::usage,
             "block-cyclic distribution with blocks of 0 elements: at least 1 is needed");
    // The arithmetic of a map overflows for more than max_elements. So such an array gets the map
    // of an empty array, and check_array_size() then refuses the array.
    const map_type map(distribution, size <= max_elements ? size : 0, team.size());
    detail::check_array_size(team, Distribution::name, size, map.largest_local_size(), sizeof(T));
    return map;
  }
  static std::uint64_t block_items_of([[maybe_unused]] const Distribution& distribution) {
    if constexpr (requires { distribution.block_items; })
      return distribution.block_items;
    else
      return 0;
  }
  static T* as_elements(std::byte* bytes) noexcept { return reinterpret_cast<T*>(bytes); }

  dist_array(longshore::team& team, const map_type& map)
      : team_(&team),
        map_(map),
        local_size_(map.local_size(team.rank())),
        segment_(
            team.allocate(detail::larger<std::size_t>(map.largest_local_size(), 1) * sizeof(T))),
        parts_(static_cast<std::size_t>(team.size())) {
    for (int rank = 0; rank < team.size(); ++rank) {
      parts_[rank] = as_elements(segment_->direct(rank));
      all_direct_ = all_direct_ && parts_[rank] != nullptr;
    }
  }

  longshore::team* team_;
  map_type map_;
  std::size_t local_size_;
  std::unique_ptr<longshore::segment> segment_;
  std::vector<T*> parts_;
  bool all_direct_ = true;
};

}  // namespace longshore
