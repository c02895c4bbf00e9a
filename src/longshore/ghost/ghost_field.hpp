// A field of a ghost exchange: views of the memory of a rank's elements and of its ghosts.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/exchange/combine_op.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>  // has the concepts of ranges, without the views of <ranges>
#include <utility>
#include <vector>

namespace longshore {

/// The memory of one field, without the type of its elements. `owned` and `ghosts` may lie anywhere
/// in one array or in two, but must not overlap.
struct ghost_memory {
  std::byte* owned = nullptr;   ///< the first owned element; null if the rank owns no element
  std::byte* ghosts = nullptr;  ///< the first ghost; null if the rank has no ghosts
  std::size_t element_bytes = 0;
  /// The distance from one element to the next. It may be negative.
  std::ptrdiff_t owned_stride_bytes = 0, ghost_stride_bytes = 0;
  const detail::element_type* type = nullptr;
  /// Where elements and ghosts lie, counted from `owned` and `ghosts` in strides; null if they follow
  /// each other.
  std::shared_ptr<const std::vector<std::uint32_t>> owned_places = nullptr, ghost_places = nullptr;
};

namespace detail {

/// Copies places. Throws errc::usage for a place that is negative or does not fit 32 bits.
template <class Range>
std::shared_ptr<const std::vector<std::uint32_t>> places_from(const Range& range) {
  std::vector<std::uint32_t> places;
  places.reserve(std::ranges::size(range));
  for (const auto place : range) {
    if (!std::in_range<std::uint32_t>(place))
      fail(errc::usage, "place {} of a ghost field: use 0 to {}", place,
           std::numeric_limits<std::uint32_t>::max());
    places.push_back(static_cast<std::uint32_t>(place));
  }
  return std::make_shared<const std::vector<std::uint32_t>>(std::move(places));
}

}  // namespace detail

/// One field. It has a value for each owned element and for each ghost of a graph, in the same
/// order. A field is a view, which does not own the memory.
///
///     std::vector<double> x(owned + ghosts);                       // ghosts after the elements
///     longshore::ghost_field all(x.data(), x.data() + owned);
///     std::vector<point> points(owned + ghosts);                   // an array of structs
///     longshore::ghost_field mass(&points[0].mass, &points[owned].mass, sizeof(point));
///     longshore::ghost_field p(base, owned_places, ghost_places);  // anywhere in one array
///
/// Between processes, memory of `shared_allocator` is read directly. Other memory is packed, and so
/// are fields with places.
template <trivially_copyable T>
class ghost_field {
 public:
  /// Contiguous elements.
  ghost_field(T* owned, T* ghosts) : ghost_field(owned, ghosts, sizeof(T)) {}
  /// Elements every `stride_bytes` bytes, in both memories.
  ghost_field(T* owned, T* ghosts, std::ptrdiff_t stride_bytes)
      : ghost_field(owned, stride_bytes, ghosts, stride_bytes) {}
  ghost_field(T* owned, std::ptrdiff_t owned_stride_bytes, T* ghosts,
              std::ptrdiff_t ghost_stride_bytes)
      : memory_{reinterpret_cast<std::byte*>(owned),
                reinterpret_cast<std::byte*>(ghosts),
                sizeof(T),
                owned_stride_bytes,
                ghost_stride_bytes,
                &detail::element_type_of<T>} {}
  /// Elements and ghosts anywhere in one array: element i at base[owned_places[i]], ghost k at
  /// base[ghost_places[k]]. The lists are copied. No place is in both lists, or twice in one. Throws
  /// errc::usage for a place that is negative or does not fit 32 bits.
  template <std::ranges::random_access_range Owned, std::ranges::random_access_range Ghosts>
  requires std::integral<std::ranges::range_value_t<Owned>> &&
      std::integral<std::ranges::range_value_t<Ghosts>>
      ghost_field(T* base, const Owned& owned_places, const Ghosts& ghost_places)
      : ghost_field(base, base) {
    memory_.owned_places = detail::places_from(owned_places);
    memory_.ghost_places = detail::places_from(ghost_places);
  }

  [[nodiscard]] const ghost_memory& memory() const noexcept { return memory_; }

 private:
  ghost_memory memory_;
};

}  // namespace longshore
