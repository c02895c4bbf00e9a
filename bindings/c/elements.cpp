// Chooses among the element types and operations of layer exchange.
#include "elements.hpp"

#include "handles.hpp"
#include "longshore.h"

#include <longshore/exchange/runtime_types.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace longshore::bindings {
namespace {

detail::number_type number_type_of(int type) {
  return static_cast<detail::number_type>(type - LONGSHORE_INT8);
}

combine_op op_of(int reduction) {
  switch (reduction) {
    case LONGSHORE_SUM: return op::add{};
    case LONGSHORE_MIN: return op::min{};
    case LONGSHORE_MAX: return op::max{};
    case LONGSHORE_OR: return op::bit_or{};
    default:
      fail(errc::usage,
           "operation {} of an accumulate or assemble: it is one of LONGSHORE_SUM, LONGSHORE_MIN, "
           "LONGSHORE_MAX, LONGSHORE_OR",
           reduction);
  }
}

struct function_for_field {
  program_function function;
  int field;
};

void call_program(const void* state, const detail::element_batch& batch) {
  const auto& [function, field] = *static_cast<const function_for_field*>(state);
  const longshore_combine_batch given = {.field = field,
                                         .count = static_cast<std::int64_t>(batch.count),
                                         .elements = batch.to,
                                         .element_stride_bytes = batch.to_stride_bytes,
                                         .element_index = batch.to_index,
                                         .ghosts = batch.from,
                                         .ghost_stride_bytes = batch.from_stride_bytes,
                                         .ghost_index = batch.from_index};
  function.call(function.context, &given);
}

}  // namespace

element_form form_of(int type, int items, std::size_t element_bytes) {
  if (items < 0) fail(errc::usage, "a field with {} numbers in an element: use 1 or more", items);
  if (items > 1 && type == LONGSHORE_BYTES)
    fail(errc::usage,
         "a field of LONGSHORE_BYTES with {} items: give the bytes of the whole element", items);
  const std::size_t bytes = bytes_of_type(type, element_bytes, "a field");
  if (items > 1)
    return {static_cast<std::size_t>(items) * bytes,
            &detail::element_type_of_items(number_type_of(type))};
  return {bytes, type == LONGSHORE_BYTES ? &detail::element_type_of_bytes()
                                         : &detail::element_type_of_number(number_type_of(type))};
}

combine_op op_for(const combine_choice& how, std::size_t field, int type, int items) {
  if (const auto* const function = std::get_if<program_function>(&how)) {
    if (function->call == nullptr)
      fail(errc::usage, "the function of an accumulate or assemble is NULL");
    return combine_op::of_batches(&call_program,
                                  std::make_shared<const function_for_field>(
                                      function_for_field{*function, static_cast<int>(field)}));
  }
  const combine_op op = op_of(std::get<int>(how));
  return items > 1 ? detail::op_for_items(op, number_type_of(type), static_cast<std::size_t>(items))
                   : op;
}

}  // namespace longshore::bindings
