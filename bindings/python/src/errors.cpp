// Raises the exceptions of longshore/errors.py: one class for each code of longshore::error.
#include "errors.hpp"

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

void register_errors() { nb::register_exception_translator(translate, nullptr); }

}  // namespace longshore::python
