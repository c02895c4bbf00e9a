// Fields of halos and boxes, as the program describes them.
#pragma once

#include "handles.hpp"

#include <longshore/exchange/field_view.hpp>

#include <vector>

namespace longshore::bindings {

/// The memory of a field of `dimensions` dimensions. Adds the longshore_memory that holds the field,
/// if there is one, to `dependencies`. Throws errc::usage for members that make no sense.
[[nodiscard]] field_memory memory_of(const longshore_team& owner, const longshore_field& field,
                                     int dimensions, std::vector<const resource*>& dependencies);

}  // namespace longshore::bindings
