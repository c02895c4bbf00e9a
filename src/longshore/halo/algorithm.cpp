#include <longshore/core/error.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/faces.hpp>
#include <longshore/halo/standard.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 6> names = {"standard", "staged", "sequenced", "staged-sequenced", "faces", "auto"};

// The cells of `part` that leave (or arrive) with a message in `direction`. What leaves fills the receiver's halo on the side that
// the message comes from: moving up it is the low halo, so the width there says how much leaves from this rank's high end.
strided_block region(const halo_part& part, const halo_direction& direction, bool leaves) {
  std::array<std::ptrdiff_t, 3> begin{};
  std::array<std::size_t, 3> size = part.memory.extents;
  for (int d = 0; d < 3; ++d) {
    const int step = direction.step[d];
    if (step == 0) continue;
    const int width = step > 0 ? part.widths.low[d] : part.widths.high[d];
    const auto cells = static_cast<std::ptrdiff_t>(part.memory.extents[d]);
    if (leaves)
      begin[d] = step > 0 ? cells - width : 0;
    else
      begin[d] = step > 0 ? -width : cells;
    size[d] = static_cast<std::size_t>(width);
  }
  return part.memory.block(begin, size);
}

halo_message message(const rank_grid& grid, std::span<const halo_part> fields, const halo_direction& direction, bool leaves) {
  halo_message message;
  message.peer = grid.neighbour(leaves ? direction : direction.opposite());
  if (!message.exists()) return message;
  for (const auto& field : fields) {
    const auto block = region(field, direction, leaves);
    if (block.size_bytes() > 0) message.parts.push_back(block);
  }
  if (message.parts.empty()) message.peer = -1;
  return message;
}

}  // namespace

std::span<const std::string_view> halo_algorithm_names() noexcept { return names; }

std::string_view name_of(halo_algorithm algorithm) noexcept { return names[static_cast<std::size_t>(algorithm)]; }

halo_algorithm halo_algorithm_from(std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail(errc::usage, "no halo algorithm is named '{}': it is one of {}", name, fmt::join(names, ", "));
  return static_cast<halo_algorithm>(found - names.begin());
}

std::optional<std::string> why_not(halo_algorithm algorithm) {
  if (algorithm == halo_algorithm::faces || algorithm == halo_algorithm::standard) return std::nullopt;
  return fmt::format("halo algorithm '{}' is not part of this version: use standard or faces", name_of(algorithm));
}

std::vector<halo_round> plan_rounds(halo_algorithm algorithm, const rank_grid& grid, std::span<const halo_part> fields) {
  switch (algorithm) {
    case halo_algorithm::faces: return faces_rounds(grid, fields);
    case halo_algorithm::standard: return standard_rounds(grid, fields);
    default: fail(errc::unsupported, "{}", why_not(algorithm).value());
  }
}

halo_round plan_round(const rank_grid& grid, std::span<const halo_part> fields, std::span<const halo_direction> directions) {
  halo_round round;
  for (const auto& direction : directions)
    round.push_back({direction, message(grid, fields, direction, true), message(grid, fields, direction, false)});
  return round;
}

}  // namespace longshore
