// The class Halo: fields on a grid of ranks, and plans that exchange them.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void bind_halo(nanobind::module_& module);

}  // namespace longshore::python
