// The algorithms of a halo exchange: which messages are sent, and in which rounds. The mode
// (mode.hpp) decides how a message is transferred.
//
// To add an algorithm: add its value to the enumeration here and its name in algorithm.cpp, in the
// same order, a pair of files beside detail/algorithms/staged.{hpp,cpp} that plans its rounds, and
// a line in detail/algorithms/plan_rounds.cpp.
#pragma once

#include <span>
#include <string_view>

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

/// The farthest cells that a stencil reads. Cells beyond faces, edges and corners belong to ranks
/// that are 1, 2 and 3 steps away.
enum class halo_reach { faces = 1, edges = 2, corners = 3 };

/// "standard", "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto", in this order.
[[nodiscard]] std::span<const std::string_view> halo_algorithm_names() noexcept;
[[nodiscard]] std::string_view name_of(halo_algorithm algorithm) noexcept;
/// Throws errc::usage for an unknown name.
[[nodiscard]] halo_algorithm halo_algorithm_from(std::string_view name);

/// "faces", "edges", "corners".
[[nodiscard]] std::span<const std::string_view> halo_reach_names() noexcept;
/// Throws errc::usage for an unknown name.
[[nodiscard]] halo_reach halo_reach_from(std::string_view name);

/// The farthest halo cells that an algorithm fills, for a stencil that needs `needed`. Staged and
/// hybrid messages carry edges and corners too, unless `needed` is faces. Algorithm `faces` never
/// fills them. Throws errc::usage for `automatic`: the answer depends on the algorithm that the
/// plan chose, so ask halo_exchange::filled.
[[nodiscard]] halo_reach filled_by(halo_algorithm algorithm, halo_reach needed);

}  // namespace longshore
