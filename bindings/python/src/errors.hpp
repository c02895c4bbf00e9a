// Translates errors of the library to the Python exceptions in longshore/errors.py.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void register_errors();

}  // namespace longshore::python
