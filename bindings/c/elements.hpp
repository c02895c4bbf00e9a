// Finds the elements of fields of halos, ghosts and boxes, and the operations that combine them.
// Types and operations are numbers of longshore.h.
#pragma once

#include "longshore.h"

#include <longshore/exchange/combine_op.hpp>

#include <cstddef>
#include <variant>
#include <vector>

namespace longshore::bindings {

struct element_form {
  std::size_t bytes = 0;
  const detail::element_type* type = nullptr;
};

/// An element is `items` numbers of `type`; 0 items mean 1. For LONGSHORE_BYTES it is
/// `element_bytes` bytes. Returns its size and type. Throws errc::usage for an unknown `type`, and
/// for more than one item of LONGSHORE_BYTES.
[[nodiscard]] element_form form_of(int type, int items, std::size_t element_bytes);

struct program_function {
  longshore_combine_function call = nullptr;
  void* context = nullptr;
};
/// How an accumulate or assemble combines: by a number of enum longshore_reduction, or by a function
/// of the program.
using combine_choice = std::variant<int, program_function>;

/// The operation for field number `field` of a plan. Elements are `items` numbers of `type`. Throws
/// errc::usage for a number that is no operation of accumulate and assemble, and for a function
/// that is NULL.
[[nodiscard]] combine_op op_for(const combine_choice& how, std::size_t field, int type, int items);

/// The operation for each field of a plan. Fields have members `type` and `items`.
template <class Field>
[[nodiscard]] std::vector<combine_op> ops_for(const combine_choice& how,
                                              const std::vector<Field>& fields) {
  std::vector<combine_op> ops;
  for (const Field& field : fields) ops.push_back(op_for(how, ops.size(), field.type, field.items));
  return ops;
}

}  // namespace longshore::bindings
