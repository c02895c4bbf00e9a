// Makes one round of a halo exchange: finds the cells of each message. The algorithms are written
// with these functions.
#pragma once

#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <array>
#include <span>
#include <vector>

namespace longshore::detail {

/// A field, and how much of its halo is exchanged.
struct exchanged_field {
  field_memory memory;
  halo_widths widths;

  /// The box of `size` cells from cell `begin`. Indices count from the first interior cell, and are
  /// negative in the halo.
  [[nodiscard]] strided_box box(const std::array<std::ptrdiff_t, 3>& begin,
                                const std::array<std::size_t, 3>& size) const noexcept;
};

/// One message in each direction, with the cells of all fields. A message that would be empty, on
/// this rank or on its peer, does not exist. Along dimensions that are `filled` already, the
/// message includes the halo received there, and so carries edges and corners.
[[nodiscard]] halo_round make_round(const rank_grid& grid, std::span<const exchanged_field> fields,
                                    std::span<const halo_direction> directions,
                                    std::array<bool, 3> filled = {});

/// The cells of one field that a message in `direction` carries: those that leave this rank, if
/// `is_outgoing`, or those that it fills.
[[nodiscard]] strided_box message_cells(const rank_grid& grid, const exchanged_field& field,
                                        const halo_direction& direction, bool is_outgoing,
                                        std::array<bool, 3> filled = {});

/// Whether a round moves nothing between ranks, on this rank and on all others. The directions and
/// the shape of the grid decide this.
[[nodiscard]] bool stays_within_ranks(const rank_grid& grid, const halo_round& round);

}  // namespace longshore::detail
