// Parts of plans, as the program describes them, and the operations of plans that take a part.
#pragma once

#include "exchanges.hpp"
#include "longshore.h"

#include <longshore/exchange/exchange_part.hpp>

#include <optional>
#include <vector>

namespace longshore::bindings {

/// The widths that the program gives: `width` on every side, or those of `low` and `high`, or none.
[[nodiscard]] std::optional<halo_widths> widths_from(int width, const int* low, const int* high,
                                                     const char* what);

/// The part that the program gives; NULL is the whole plan.
[[nodiscard]] exchange_part part_of(const longshore_part* given);

/// The operation for each field of a part. Skips numbers without a field: the plan refuses them.
template <class Field>
[[nodiscard]] std::vector<combine_op> ops_for(const combine_choice& how,
                                              const std::vector<Field>& fields,
                                              const exchange_part& part) {
  if (part.fields.empty()) return ops_for(how, fields);
  std::vector<combine_op> ops;
  for (const int number : part.fields)
    if (const auto f = static_cast<std::size_t>(number); f < fields.size())
      ops.push_back(op_for(how, f, fields[f].type, fields[f].items));
  return ops;
}

/// Starts an operation of a plan that has such operations. Waits for it if `waits`.
template <class Handle>
int start_accumulate(Handle* plan, bool waits, const combine_choice& how,
                     const longshore_part* given, std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits, [&](Handle& of) {
    const exchange_part part = part_of(given);
    of.plan.start_accumulate(ops_for(how, of.fields, part), part, stream);
  });
}
template <class Handle>
int start_assemble(Handle* plan, bool waits, const combine_choice& how, const longshore_part* given,
                   std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits, [&](Handle& of) {
    const exchange_part part = part_of(given);
    of.plan.start_assemble(ops_for(how, of.fields, part), part, stream);
  });
}

}  // namespace longshore::bindings
