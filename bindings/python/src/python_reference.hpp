// References to Python objects, for code that runs without the GIL.
#pragma once

#include "gil.hpp"

#include <nanobind/nanobind.h>

#include <utility>

namespace longshore::python {

namespace nb = nanobind;

/// A reference that may be destroyed without the GIL: the destructor acquires the GIL.
class python_reference {
 public:
  python_reference() = default;
  explicit python_reference(nb::object object) : object_(std::move(object)) {}
  python_reference(python_reference&&) noexcept = default;
  ~python_reference() {
    if (!object_.is_valid()) return;
    if (!nb::is_alive()) {  // the interpreter has ended, so the object can no longer be released
      static_cast<void>(object_.release());
      return;
    }
    const acquire_gil lock;
    object_.reset();
  }

  /// REQUIRES: the thread holds the GIL.
  void hold(nb::object object) { object_ = std::move(object); }
  [[nodiscard]] nb::object take() { return std::move(object_); }
  [[nodiscard]] nb::handle object() const noexcept { return object_; }
  /// Never releases the object, because other ranks may still read its memory.
  void leak() noexcept { static_cast<void>(object_.release()); }

 private:
  nb::object object_;
};

}  // namespace longshore::python
