// What one call exchanges of a plan of halos or boxes: some fields, or fewer halo cells.
#pragma once

#include <longshore/exchange/field_view.hpp>

#include <optional>
#include <vector>

namespace longshore {

/// Some fields of a plan, or fewer halo cells. No message is sent that the part does not need. All
/// ranks pass the same part. The first call with a part is collective: it makes and keeps a plan of
/// this part. All ranks throw errc::usage for a number that no field has, for a field that is named
/// twice, and for a negative width.
struct exchange_part {
  /// The numbers of the fields, in the order of the constructor. An empty list means all fields.
  std::vector<int> fields = {};
  /// At most this many halo cells on each side. A field with fewer cells keeps its width.
  std::optional<halo_widths> width = {};

  friend bool operator==(const exchange_part&, const exchange_part&) = default;
};

}  // namespace longshore
