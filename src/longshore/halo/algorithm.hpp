// Algorithms: which messages, in which rounds. How a message is carried is the mode's business
// (mode.hpp).
//
// To add one: its name here, a pair of files like staged.{hpp,cpp} that makes its rounds, a line in
// plan_rounds.
#pragma once

#include <longshore/halo/detail/message.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

enum class halo_algorithm {
  standard,
  staged,
  sequenced,
  staged_sequenced,
  faces,
  hybrid,
  automatic
};

/// How far a stencil reaches: cells beyond faces, edges and corners are in ranks 1, 2 and 3 steps
/// away.
enum class halo_reach { faces = 1, edges = 2, corners = 3 };

/// A field, and how much of its halo is exchanged.
struct halo_part {
  field_memory memory;
  halo_widths widths;
};

/// "standard", "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto", in this order.
[[nodiscard]] std::span<const std::string_view> halo_algorithm_names() noexcept;
[[nodiscard]] std::string_view name_of(halo_algorithm algorithm) noexcept;
/// Throws errc::usage for a name that is none.
[[nodiscard]] halo_algorithm halo_algorithm_from(std::string_view name);

/// "faces", "edges", "corners". Throws errc::usage for a name that is none.
[[nodiscard]] std::span<const std::string_view> halo_reach_names() noexcept;
[[nodiscard]] halo_reach halo_reach_from(std::string_view name);

/// How far an algorithm fills the halo of a stencil that reaches so far: staged messages carry
/// corners in any case, unless only faces are needed, and `faces` never does. Throws errc::usage
/// for `automatic`: what it fills is what the chosen one does (halo_exchange::algorithm, or
/// halo_exchange::filled).
[[nodiscard]] halo_reach filled_by(halo_algorithm algorithm, halo_reach needed);

/// The rounds of an exchange: each may begin when the one before is complete. REQUIRES: not
/// `automatic`, which is a choice among the others (choose_algorithm.hpp). `own_copied`: the mode
/// copies what a rank sends to itself, so that this may come last (standard.hpp).
[[nodiscard]] std::vector<detail::halo_round> plan_rounds(halo_algorithm algorithm,
                                                          const rank_grid& grid,
                                                          std::span<const halo_part> fields,
                                                          halo_reach reach = halo_reach::corners,
                                                          bool own_copied = false);

/// Whether a round, by its directions, moves nothing between ranks: on this rank and on every
/// other.
[[nodiscard]] bool is_within_ranks(const rank_grid& grid, const detail::halo_round& round);

/// One round: in each direction one message with the cells of all fields. Directions in which a
/// message would be empty, on this rank or another, have no message. In the dimensions that are
/// `filled` already the message is wider by the halo that has come there, so that it carries edges
/// and corners on.
[[nodiscard]] detail::halo_round plan_round(const rank_grid& grid,
                                            std::span<const halo_part> fields,
                                            std::span<const halo_direction> directions,
                                            std::array<bool, 3> filled = {});

/// The cells of a field that leave (or arrive) with a message in `direction`: one box.
[[nodiscard]] detail::strided_block region(const rank_grid& grid, const halo_part& part,
                                           const halo_direction& direction, bool leaves,
                                           std::array<bool, 3> filled = {});

}  // namespace longshore
