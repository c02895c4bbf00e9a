// Chooses among the element types and operations of layer exchange.
#include "elements.hpp"

#include "handles.hpp"
#include "longshore.h"

#include <longshore/exchange/runtime_types.hpp>

#include <algorithm>

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

combine_op op_for(int reduction, int type, int items) {
  const combine_op op = op_of(reduction);
  return items > 1 ? detail::op_for_items(op, number_type_of(type), static_cast<std::size_t>(items))
                   : op;
}

}  // namespace longshore::bindings
