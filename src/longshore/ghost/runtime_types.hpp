// Types of fields that are known only at run time, for the interfaces of other languages.
#pragma once

#include <longshore/ghost/ghost_field.hpp>
#include <longshore/ghost/ghost_op.hpp>

#include <cstddef>

namespace longshore::detail {

/// The types of numbers, in the order that the interfaces of other languages use.
enum class number_type {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64
};

[[nodiscard]] const ghost_type& ghost_type_of_number(number_type type) noexcept;
/// The type of elements of any size that are only copied, or combined by functions of the program.
[[nodiscard]] const ghost_type& ghost_type_of_bytes() noexcept;

/// The type of elements that consist of several numbers without gaps.
[[nodiscard]] const ghost_type& ghost_type_of_items(number_type type) noexcept;

/// Returns operation `op` for a field of ghost_type_of_items(type) with `items` numbers per
/// element. Throws errc::usage if the type does not have the operation.
[[nodiscard]] ghost_op op_for_items(const ghost_op& op, number_type type, std::size_t items);

}  // namespace longshore::detail
