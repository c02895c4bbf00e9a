// Reads the fields and the width of a call.
#include "parts.hpp"

#include <longshore/core/error.hpp>

#include <algorithm>

namespace longshore::python {

exchange_part part_from(std::span<const cell_field> fields, nb::handle arrays, nb::handle given,
                        nb::handle width) {
  exchange_part part;
  for (const nb::handle array : arrays) part.fields.push_back(index_of(fields, array));
  if (nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given)) {
    if (nb::len(given) == 0)
      fail(errc::usage, "fields: no field: name some, or pass None for all fields");
    for (const nb::handle field : given) {
      // On a rank without boxes, all fields of Boxes are the same empty tuple.
      if (nb::isinstance<nb::tuple>(field))
        fail(errc::usage, "fields: a tuple of arrays: give the name or the number of the field");
      part.fields.push_back(index_of(fields, field));
    }
  } else if (!given.is_none()) {
    part.fields.push_back(index_of(fields, given));
  }
  // The plan keeps each part of earlier calls. A part does not depend on the order of its fields.
  std::sort(part.fields.begin(), part.fields.end());
  part.fields.erase(std::unique(part.fields.begin(), part.fields.end()), part.fields.end());
  if (part.fields.size() == fields.size() && !part.fields.empty() && part.fields.front() == 0 &&
      part.fields.back() + 1 == static_cast<int>(fields.size()))
    part.fields.clear();
  if (!width.is_none()) part.width = widths_from(width, fields.front().layers.low.size());
  return part;
}

std::vector<element_content> contents_of(std::span<const cell_field> fields,
                                         const exchange_part& part) {
  if (part.fields.empty()) return contents_of(fields);
  std::vector<element_content> contents;
  for (const int number : part.fields)
    if (number >= 0 && static_cast<std::size_t>(number) < fields.size())
      contents.push_back(contents_of(fields.subspan(static_cast<std::size_t>(number), 1)).front());
  return contents;
}

}  // namespace longshore::python
