// Function longshore_field_dense, and the check of fields that the program gives.
#include "fields.hpp"

#include "elements.hpp"
#include "longshore.h"
#include "memory.hpp"

#include <longshore/machine/placement.hpp>

#include <algorithm>
#include <cstddef>

using namespace longshore;
using namespace longshore::bindings;

namespace {

constexpr int max_dimensions = 3;

}  // namespace

field_memory longshore::bindings::memory_of(const longshore_team& owner,
                                            const longshore_field& field, int dimensions,
                                            std::vector<const resource*>& dependencies) {
  field_memory memory;
  memory.first = static_cast<std::byte*>(field.first);
  const element_form form = form_of(field.type, field.items, field.element_bytes);
  memory.element_bytes = form.bytes;
  memory.type = form.type;
  for (int d = 0; d < max_dimensions; ++d) {
    const bool exists = d < dimensions;
    if (exists && field.extents[d] < 1)
      fail(errc::usage, "a field of {} cells along {}: use 1 or more", field.extents[d],
           axis_names[d]);
    if (!exists && field.extents[d] > 1)
      fail(errc::usage, "a field of {} cells along {}, on a grid of {} dimensions",
           field.extents[d], axis_names[d], dimensions);
    if (field.low[d] < 0 || field.high[d] < 0)
      fail(errc::usage, "a halo of {} and {} cells along {}: use 0 or more", field.low[d],
           field.high[d], axis_names[d]);
    memory.extents[d] = exists ? static_cast<std::size_t>(field.extents[d]) : 1;
    memory.strides_bytes[d] = field.strides[d] * static_cast<std::ptrdiff_t>(memory.element_bytes);
    memory.widths.low[d] = exists ? field.low[d] : 0;
    memory.widths.high[d] = exists ? field.high[d] : 0;
    memory.shared[d] = exists ? field.shared[d] : 0;
  }
  required(memory.first, "the memory of a field");
  if (const longshore_memory* const holder = find_memory(owner, memory.first)) {
    memory.set_memory(holder->cells);
    dependencies.push_back(holder);
  }
  return memory;
}

extern "C" void longshore_field_dense(struct longshore_field* field, void* cells, int type,
                                      const int64_t extents[3], const int low[3],
                                      const int high[3]) {
  *field = {};
  field->type = type;
  int64_t stride = 1, first = 0;
  for (int d = 0; d < max_dimensions; ++d) {
    field->extents[d] = extents[d];
    field->strides[d] = stride;
    field->low[d] = low[d];
    field->high[d] = high[d];
    first += low[d] * stride;
    stride *= std::max<int64_t>(extents[d], 1) + low[d] + high[d];
  }
  const std::size_t bytes = longshore_type_bytes(type);
  if (bytes > 0)
    field->first = static_cast<std::byte*>(cells) + static_cast<std::size_t>(first) * bytes;
}
