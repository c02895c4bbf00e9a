// The parts of the extension module longshore._core, each of which adds a class or functions.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

void bind_team(nanobind::module_& module);
/// run(), world(), transports().
void bind_run(nanobind::module_& module);
/// Table, gather(), scatter(), update(), histogram().
void bind_table(nanobind::module_& module);
void bind_halo(nanobind::module_& module);
/// BoxLayout, Boxes, BoxCopy.
void bind_boxes(nanobind::module_& module);
/// GhostGraph, Ghost.
void bind_ghost(nanobind::module_& module);
void bind_sort(nanobind::module_& module);
/// stream(), which measures the four kernels of STREAM.
void bind_stream(nanobind::module_& module);
/// In builds for tests: devices that need no GPU.
void bind_emulated_devices(nanobind::module_& module);

}  // namespace longshore::python
