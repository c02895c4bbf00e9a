// The class Halo of Python: fields on a grid of ranks, and the exchange of their halos.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void bind_halo(nanobind::module_& module);

}  // namespace longshore::python
