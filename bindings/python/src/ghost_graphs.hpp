// The class GhostGraph of Python.
#pragma once

#include "ghost_plans.hpp"

#include <nanobind/nanobind.h>

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

void bind_ghost_graph(nb::module_& module);

}  // namespace longshore::python
