// The algorithms of a halo exchange. An algorithm decides which messages are sent, and in which
// rounds. The mode (mode.hpp) decides how a message is transferred.
//
// To add an algorithm:
// 1. Here: add a value to the enumeration before `automatic`, and its name at the same position. In
//    algorithm.cpp: add a case to filled_by().
// 2. In detail/algorithms/plan_rounds.cpp: add a function that plans the rounds, and a case that
//    calls it. A long function has a file of its own, such as hybrid.cpp. If `automatic` shall try
//    the algorithm, add a candidate in detail/algorithms/choose_algorithm.cpp.
// 3. For tests: extend the list in halo_test.hpp, and the numbers of messages and rounds that
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

/// The farthest halo cells that a stencil reads. The value is the number of steps to the rank that
/// owns these cells: 1 through a face, 2 through an edge, 3 through a corner.
enum class halo_reach { faces = 1, edges = 2, corners = 3 };

template <>
inline constexpr enum_names<7> all_names<halo_algorithm> = {
    "halo algorithm",
    {"standard", "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto"}};
template <>
inline constexpr enum_names<3> all_names<halo_reach> = {
    .kind = "reach of a stencil", .names = {"faces", "edges", "corners"}, .first = 1};

/// Returns the farthest halo cells that an algorithm fills for a stencil that reads `needed`.
/// Staged algorithms and hybrid fill edges and corners unless `needed` is faces. Algorithm `faces`
/// never fills edges or corners. Throws errc::usage for `automatic`, because the plan chooses the
/// algorithm. Call halo_exchange::filled() then.
[[nodiscard]] halo_reach filled_by(halo_algorithm algorithm, halo_reach needed);

}  // namespace longshore
