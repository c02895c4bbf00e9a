// The class GhostGraph of Python.
#pragma once

#include "ghost_plans.hpp"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace longshore::python {

/// The class GhostGraph.
struct rank_graph {
  collective_handle<kept_graph> kept;
  // Its ghosts are given by ranks and elements, or by ranks and global indices if it has_ids.
  bool has_ranks, has_ids;
  std::size_t owned, ghosts;

  /// Throws errc::usage if the team cannot be used here.
  [[nodiscard]] const ghost_graph& graph() const {
    (void)kept.owner().ranks();
    return kept->value();
  }
};

/// Throws TypeError for other objects.
[[nodiscard]] const rank_graph& graph_of(nb::handle graph);

/// The integers of an array of int32 or int64 with one dimension. Throws TypeError or ValueError for
/// other arrays; `what` names the array.
[[nodiscard]] std::vector<std::int64_t> integers_of(nb::handle array, const char* what);

void bind_ghost_graph(nb::module_& module);

}  // namespace longshore::python
