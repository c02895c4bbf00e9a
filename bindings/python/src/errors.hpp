// Errors of the library as exceptions of Python: one class for each code, declared in
// longshore/errors.py.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void register_errors();

}  // namespace longshore::python
