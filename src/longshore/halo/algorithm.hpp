// The algorithms of a halo exchange. An algorithm decides which messages are sent, and in which
// rounds. The mode (mode.hpp) decides how a message is transferred.
//
// To add an algorithm:
// 1. Here: a value of the enumeration before `automatic`, and its name in the same order. In
//    algorithm.cpp: a case in filled_by().
// 2. In detail/algorithms/plan_rounds.cpp: a function that plans the rounds, and a case that calls
//    it. A long planner has a file of its own, as hybrid.cpp. If algorithm auto shall try the
//    algorithm, it is also a candidate in detail/algorithms/choose_algorithm.cpp.
// 3. For tests: the list in halo_test.hpp, and the numbers of messages and rounds that
//    halo_plan_test.cpp expects.
// 4. For studies: the algorithm's name in study/src/longshore_study/patterns/halo.py. For readers:
//    the table in docs/reference/halo.md, and the names in bindings/c/longshore.h.
#pragma once

#include <longshore/core/name_lookup.hpp>

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
/// that are 1, 2 and 3 steps away, which are the values of the enumeration.
enum class halo_reach { faces = 1, edges = 2, corners = 3 };

template <>
inline constexpr enum_names<7> all_names<halo_algorithm> = {
    "halo algorithm",
    {"standard", "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto"}};
template <>
inline constexpr enum_names<3> all_names<halo_reach> = {
    .kind = "reach of a stencil", .names = {"faces", "edges", "corners"}, .first = 1};

/// The farthest halo cells that an algorithm fills, for a stencil that reads `needed`. Staged and
/// hybrid messages carry edges and corners, too, unless `needed` is faces. Algorithm `faces` never
/// fills edges or corners. Throws errc::usage for `automatic`, because the result depends on the
/// algorithm that the plan chose: call halo_exchange::filled().
[[nodiscard]] halo_reach filled_by(halo_algorithm algorithm, halo_reach needed);

}  // namespace longshore
