// The function sort() of Python.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void bind_sort(nanobind::module_& module);

}  // namespace longshore::python
