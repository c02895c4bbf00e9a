// Translates errors of the library to Python exceptions. longshore/errors.py declares one class for
// each error code.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void register_errors();

}  // namespace longshore::python
