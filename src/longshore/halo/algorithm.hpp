// Algorithms: which messages, in which rounds. How a message is carried is the mode's business (mode.hpp).
//
// To add one: its name here, a pair of files like faces.{hpp,cpp} that makes its rounds, a line in plan_rounds.
#pragma once

#include <longshore/halo/field.hpp>
#include <longshore/halo/message.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

enum class halo_algorithm { standard, staged, sequenced, staged_sequenced, faces, automatic };

/// A field, and how much of its halo is exchanged.
struct halo_part {
  field_memory memory;
  halo_widths widths;
};

/// "standard", "staged", "sequenced", "staged-sequenced", "faces", "auto", in this order.
[[nodiscard]] std::span<const std::string_view> halo_algorithm_names() noexcept;
[[nodiscard]] std::string_view name_of(halo_algorithm algorithm) noexcept;
/// Throws errc::usage for a name that is none.
[[nodiscard]] halo_algorithm halo_algorithm_from(std::string_view name);

/// Why this version cannot do an algorithm, or nothing.
[[nodiscard]] std::optional<std::string> why_not(halo_algorithm algorithm);

/// The rounds of an exchange: each may begin when the one before is complete. REQUIRES: why_not gives nothing.
[[nodiscard]] std::vector<halo_round> plan_rounds(halo_algorithm algorithm, const rank_grid& grid,
                                                  std::span<const halo_part> fields);

/// One round: in each direction one message with the cells of all fields. Directions in which a message would be empty, on this
/// rank or another, have no message.
[[nodiscard]] halo_round plan_round(const rank_grid& grid, std::span<const halo_part> fields,
                                    std::span<const halo_direction> directions);

}  // namespace longshore
