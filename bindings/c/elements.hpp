// The elements of the fields of halos and ghosts, and the operations that combine them, by the
// numbers of longshore.h.
#pragma once

#include <longshore/exchange/combine_op.hpp>

#include <cstddef>

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

}  // namespace longshore::bindings
