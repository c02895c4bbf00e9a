// The classes GhostGraph and Ghost of Python: exchanges of any shape.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void bind_ghost(nanobind::module_& module);

}  // namespace longshore::python
