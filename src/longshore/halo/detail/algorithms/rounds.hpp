// Makes one round of a halo exchange: finds the cells of each message. The planners of all
// algorithms call these functions.
#pragma once

#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <array>
#include <span>
#include <vector>

namespace longshore::detail {

/// A field, and the part of its halo that is exchanged.
struct exchanged_field {
  field_memory memory;
  halo_widths widths;

  /// The box of `size` cells from cell `begin`. Index 0 is the first interior cell, and halo cells
  /// on low sides have negative indices.
  [[nodiscard]] strided_box box(const std::array<std::ptrdiff_t, 3>& begin,
                                const std::array<std::size_t, 3>& size) const noexcept;
};

/// The two ends of a message: the sender reads cells, and the receiver fills cells.
enum class message_end { sender, receiver };

/// Makes one message in each direction, with the cells of all fields. A message without cells
/// exists at neither end. Along `filled` dimensions the halo has been received already. Messages
/// include this halo, and so carry edges and corners.
[[nodiscard]] halo_round make_round(const rank_grid& grid, std::span<const exchanged_field> fields,
                                    std::span<const halo_direction> directions,
                                    std::array<bool, 3> filled = {});

/// Returns the cells of one field in a message in `direction`. This rank is its end `end`.
[[nodiscard]] strided_box message_cells(const rank_grid& grid, const exchanged_field& field,
                                        const halo_direction& direction, message_end end,
                                        std::array<bool, 3> filled = {});

/// Returns the rounds of algorithm standard, which with reach `faces` are those of algorithm faces.
[[nodiscard]] std::vector<halo_round> standard_rounds(const rank_grid& grid,
                                                      std::span<const exchanged_field> fields,
                                                      halo_reach reach);
[[nodiscard]] std::vector<halo_round> hybrid_rounds(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach);

/// Whether no message of a round travels between ranks. All ranks get the same result, which
/// depends on the directions and the shape of the grid only.
[[nodiscard]] bool stays_within_ranks(const rank_grid& grid, const halo_round& round);

}  // namespace longshore::detail
