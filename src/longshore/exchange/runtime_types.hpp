// Types of fields that are known only at run time, for the interfaces of other languages.
#pragma once

#include <longshore/exchange/combine_op.hpp>

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
  float64,
  complex64,
  complex128
};

/// Complex numbers can be added, but not compared.
[[nodiscard]] const element_type& element_type_of_number(number_type type) noexcept;
/// The type of elements of any size that are only copied, or combined by functions of the program.
[[nodiscard]] const element_type& element_type_of_bytes() noexcept;

/// The type of elements that consist of several numbers without gaps. REQUIRES: not complex.
[[nodiscard]] const element_type& element_type_of_items(number_type type) noexcept;

/// Returns operation `op` for a field of element_type_of_items(type) with `items` numbers per
/// element. Throws errc::usage if the type does not have the operation.
[[nodiscard]] combine_op op_for_items(const combine_op& op, number_type type, std::size_t items);

}  // namespace longshore::detail
