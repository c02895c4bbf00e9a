// The class Table of Python, and the functions gather, scatter, update and histogram.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void bind_table(nanobind::module_& module);

}  // namespace longshore::python
