// Defines the extension module longshore._core, whose names longshore/__init__.py exports. Raises the
// exceptions of longshore/errors.py: one class for each code of longshore::error.
#include "module.hpp"

#include <longshore/core/error.hpp>

namespace longshore::python {
namespace {

namespace nb = nanobind;

const char* class_of(errc code) noexcept {
  switch (code) {
    case errc::usage: return "UsageError";
    case errc::unsupported: return "UnsupportedError";
    case errc::out_of_memory: return "OutOfMemoryError";
    case errc::timeout: return "DeadlineError";
    case errc::peer_failed: return "PeerFailedError";
    case errc::transport: return "TransportError";
  }
  return "TransportError";
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);  // nanobind translates exceptions that are not caught here
  } catch (const error& e) {
    const nb::object type = nb::module_::import_("longshore.errors").attr(class_of(e.code()));
    PyErr_SetString(type.ptr(), e.what());
  }
}

}  // namespace
}  // namespace longshore::python

NB_MODULE(_core, module) {
  using namespace longshore::python;
  module.doc() = "The compiled part of the package longshore.";
  nb::register_exception_translator(translate, nullptr);
  bind_team(module);
  bind_run(module);
  bind_table(module);
  bind_halo(module);
  bind_boxes(module);
  bind_ghost(module);
  bind_sort(module);
  bind_stream(module);
#ifdef LONGSHORE_EMULATED_DEVICE
  bind_emulated_devices(module);
#endif
}
