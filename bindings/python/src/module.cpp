// Defines the extension module longshore._core: each bind_...() adds a class or functions.
// longshore/__init__.py exports the names of the module.
#include "errors.hpp"
#include "ghost.hpp"
#include "halo.hpp"
#include "rank_team.hpp"
#include "sort.hpp"
#include "stream.hpp"
#include "table_functions.hpp"

NB_MODULE(_core, module) {
  using namespace longshore::python;
  module.doc() = "The compiled part of the package longshore.";
  register_errors();
  bind_team(module);
  bind_run(module);
  bind_table(module);
  bind_halo(module);
  bind_ghost(module);
  bind_sort(module);
  bind_stream(module);
}
