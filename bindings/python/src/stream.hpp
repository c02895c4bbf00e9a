// stream(): the four kernels of STREAM, measured.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void bind_stream(nanobind::module_& module);

}  // namespace longshore::python
