// Makes plans between boxes: finds the pieces that boxes have of each other's cells.
#pragma once

#include <longshore/boxes/box_exchange.hpp>
#include <longshore/boxes/detail/layout_data.hpp>
#include <longshore/exchange/detail/copy_links.hpp>
#include <longshore/exchange/detail/exchange_plan.hpp>

#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// Fields that have copies of the cells of others.
struct box_copies {
  const layout_data& copies;  ///< the layout of the fields that have copies
  std::span<const box_field_memory> copy_fields;
  const layout_data& owners;  ///< the layout of the fields that own the cells
  std::span<const box_field_memory> owner_fields;
  /// Whether both are the same fields. Then a cell is no copy of itself.
  bool is_same = true;
  /// Which cells of a box are copies: its halo, its shared layers, and the cells of the box itself
  /// if the fields are not the same.
  bool takes_halo = true, takes_shared = true;
};

/// Local. Throws errc::usage if the halo of a field, with its shared layers, is wider than a periodic
/// domain. A layout knows the copies of its cells in the next period only.
void check_widths_in_domain(const layout_data& layout, std::size_t number,
                            const box_field_memory& field);

/// Local. Throws errc::usage if views do not fit the boxes of this rank.
void check_box_fields(const layout_data& layout, std::span<const box_field_memory> fields);

/// Collective. Makes a plan with the programs of copy_links. A program that is not wanted has no
/// rounds.
[[nodiscard]] std::unique_ptr<exchange_plan> make_box_plan(const box_copies& what, box_mode mode,
                                                           bool accumulates, bool updates,
                                                           plan_arguments arguments);

/// Adds the types, widths and shared layers of fields to the arguments that must be equal on all
/// ranks.
void add_arguments(common_arguments& same, std::span<const box_field_memory> fields);

}  // namespace longshore::detail
