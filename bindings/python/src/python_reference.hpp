// Objects of Python in the hands of code that runs without Python's lock.
#pragma once

#include "python_lock.hpp"

#include <nanobind/nanobind.h>

#include <utility>

namespace longshore::python {

namespace nb = nanobind;

/// An object of Python that is kept where Python's lock is not held.
class python_reference {
 public:
  python_reference() = default;
  explicit python_reference(nb::object object) : object_(std::move(object)) {}
  python_reference(python_reference&&) noexcept = default;
  ~python_reference() {
    if (!object_.is_valid()) return;
    if (!nb::is_alive()) {
      static_cast<void>(object_.release());
      return;
    }
    const with_python lock;
    object_.reset();
  }

  /// With the lock.
  void hold(nb::object object) { object_ = std::move(object); }
  [[nodiscard]] nb::object take() { return std::move(object_); }
  /// Never freed: others may still read what it has.
  void leak() noexcept { static_cast<void>(object_.release()); }

 private:
  nb::object object_;
};

}  // namespace longshore::python
