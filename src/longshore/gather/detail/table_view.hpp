// table_view: the map of a distributed table and the addresses of its parts, for the loops of
// gather, scatter and updates.
#pragma once

#include <longshore/array/dist_array.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace longshore::detail {

/// Refers to a table, which must outlive the view, and accesses the elements as type T. T may be
/// another type than that of the elements, if both have the same size (compiled_loops.hpp). Memory:
/// 8 bytes per rank.
template <trivially_copyable T, distribution Distribution>
class table_view {
 public:
  using distribution_type = Distribution;
  using map_type = typename Distribution::map;

  /// Local.
  template <trivially_copyable Element, distribution TableDistribution>
  requires(sizeof(Element) == sizeof(T) &&
           std::convertible_to<
               const typename TableDistribution::map&,
               map_type>) explicit table_view(const dist_array<Element, TableDistribution>& table)
      : team_(&table.team()),
        map_(table.map()),
        segment_(&table.segment()),
        local_(reinterpret_cast<T*>(segment_->local()), table.local().size()),
        parts_(table.direct_parts().size()),
        all_direct_(table.is_all_direct()) {
    for (std::size_t rank = 0; rank < parts_.size(); ++rank)
      parts_[rank] = reinterpret_cast<T*>(segment_->direct(static_cast<int>(rank)));
  }

  // The same calls as those of dist_array.
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
  std::vector<T*> parts_;  // indexed by rank; null if this rank cannot reach the part
  bool all_direct_;
};

// Offsets in messages say where an element lies in its owner's part of the table. They are most of
// the bytes of a request, so they have 32 bits if all parts are small.

template <class Map>
[[nodiscard]] bool has_32_bit_offsets(const Map& map) noexcept {
  return map.largest_local_size() <= std::numeric_limits<std::uint32_t>::max();
}

template <class Map>
[[nodiscard]] std::size_t offset_bytes(const Map& map) noexcept {
  return has_32_bit_offsets(map) ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
}

/// Calls body(Offset{}, locate), where locate(index) returns the owner and offset of an index.
template <class Map, class Body>
void with_offsets(const Map& map, Body&& body) {
  if (has_32_bit_offsets(map))
    map.with_locator([&](auto locate) { body(std::uint32_t{}, locate); });
  else  // Such large parts miss every cache, so the time of locate() hardly counts.
    body(std::uint64_t{}, [map](std::uint64_t index) { return map.owner_offset(index); });
}

}  // namespace longshore::detail
