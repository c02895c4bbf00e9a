// Checks the part of a plan that the program gives.
#include "parts.hpp"

namespace longshore::bindings {

std::optional<halo_widths> widths_from(int width, const int* low, const int* high,
                                       const char* what) {
  if ((low == nullptr) != (high == nullptr))
    fail(errc::usage, "one of low and high of {} is NULL: give both, or neither for the whole halo",
         what);
  if (width < 0) fail(errc::usage, "a halo of width {}: use 1 or more", width);
  if (width > 0 && low != nullptr)
    fail(errc::usage, "{} with width {} and with low and high: give width, or low and high", what,
         width);
  if (width > 0) return halo_widths(width);
  if (low == nullptr) return {};
  return halo_widths({low[0], low[1], low[2]}, {high[0], high[1], high[2]});
}

exchange_part part_of(const longshore_part* given) {
  exchange_part part;
  if (given == nullptr) return part;
  check_reserved(given->reserved, "longshore_part");
  const std::size_t count = count_from(given->count, "the number of fields of a part");
  if ((given->fields == nullptr) != (count == 0))
    fail(errc::usage,
         "a part with {} fields, whose list is {}: give both, or neither for all fields", count,
         given->fields == nullptr ? "NULL" : "not NULL");
  part.fields.assign(given->fields, given->fields + count);
  part.width = widths_from(given->width, given->low, given->high, "a part");
  return part;
}

}  // namespace longshore::bindings
