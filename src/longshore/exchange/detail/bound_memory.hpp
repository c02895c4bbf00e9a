// The memories of a plan on one rank. Programs name memories and elements by numbers. So a plan can
// be bound to other addresses.
#pragma once

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// One field in a memory. Element i begins at data + i * stride_bytes.
struct bound_field {
  std::byte* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  std::size_t element_bytes = 0;
  int number = 0;  ///< of the field in the plan, which has one operation per field
};

/// A memory has the same elements of one or several fields.
using bound_memory = std::vector<bound_field>;
/// The memories of a rank, by their numbers.
using rank_memories = std::vector<bound_memory>;

}  // namespace longshore::detail
