// The fields of the memories of a plan on one rank, bound to addresses. Programs name memories and
// elements by numbers. So a plan can be bound to other addresses.
#pragma once

#include <longshore/exchange/detail/elements/index_list.hpp>
#include <longshore/exchange/field_view.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace longshore::detail {

/// The shareable memory that holds a field, if the front end knows it.
struct memory_holder {
  shared_memory_handle handle;
  std::weak_ptr<const void> lifetime;  ///< expires when the memory is freed
};

/// One field in a memory. Element i begins at data + p * stride_bytes, where p is i, or places[i].
struct bound_field {
  std::byte* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  std::size_t element_bytes = 0;
  int number = 0;  ///< of the field in the plan, which has one operation per field
  const std::uint32_t* places = nullptr;  ///< of elements in lists
  /// Null if plans look for shareable memory at `data`.
  std::shared_ptr<const memory_holder> holder = nullptr;

  [[nodiscard]] element_memory elements() const noexcept { return {data, stride_bytes}; }
  /// The field with its elements at `where`, in order and without gaps.
  [[nodiscard]] bound_field packed_at(std::byte* where) const {
    auto packed = *this;
    packed.data = where;
    packed.stride_bytes = static_cast<std::ptrdiff_t>(element_bytes);
    packed.places = nullptr;
    return packed;
  }
};

/// The fields of a memory: one or several, with the same elements.
using bound_fields = std::vector<bound_field>;
/// Returns a block of cells as a field of a memory. Its elements are bytes, counted from the first
/// interior cell.
[[nodiscard]] inline bound_field field_of_cells(const field_memory& field, int number) {
  bound_field bound{field.first, 1, field.element_bytes, number};
  if (field.memory.bytes > 0)
    bound.holder =
        std::make_shared<const memory_holder>(memory_holder{field.memory, field.lifetime});
  return bound;
}

/// The memories of a rank, by their numbers.
using rank_memories = std::vector<bound_fields>;

}  // namespace longshore::detail
