// The memories of a plan on one rank. Programs name memories and elements by numbers. So a plan can
// be bound to other addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::detail {

/// One field in a memory. Element i begins at data + p * stride_bytes, where p is i, or places[i].
struct bound_field {
  std::byte* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  std::size_t element_bytes = 0;
  int number = 0;  ///< of the field in the plan, which has one operation per field
  const std::uint32_t* places = nullptr;  ///< of elements in lists
};

/// A memory has the same elements of one or several fields.
using bound_memory = std::vector<bound_field>;
/// The memories of a rank, by their numbers.
using rank_memories = std::vector<bound_memory>;

}  // namespace longshore::detail
