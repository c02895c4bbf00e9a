// The elements of the fields of halos, ghosts and boxes, and the operations that combine them, by the
// numbers of longshore.h.
#pragma once

#include <longshore/exchange/combine_op.hpp>

#include <cstddef>
#include <vector>

namespace longshore::bindings {

struct element_form {
  std::size_t bytes = 0;
  const detail::element_type* type = nullptr;
};

/// The form of elements that are `items` numbers of `type`, or `element_bytes` bytes. 0 items mean
/// 1. Throws errc::usage for a number that is no type, and for items of LONGSHORE_BYTES.
[[nodiscard]] element_form form_of(int type, int items, std::size_t element_bytes);

/// The operation `reduction` for a field of such elements. Throws errc::usage for a number that is
/// no operation of accumulate and assemble.
[[nodiscard]] combine_op op_for(int reduction, int type, int items);

/// The operation for each field, which has members `type` and `items`.
template <class Field>
[[nodiscard]] std::vector<combine_op> ops_for(int reduction, const std::vector<Field>& fields) {
  std::vector<combine_op> ops;
  for (const Field& field : fields) ops.push_back(op_for(reduction, field.type, field.items));
  return ops;
}

}  // namespace longshore::bindings
