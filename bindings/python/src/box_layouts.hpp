// The class BoxLayout of Python.
#pragma once

#include "kept_value.hpp"

#include <longshore/boxes/box_layout.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>

namespace longshore::python {

namespace nb = nanobind;

/// The class BoxLayout. Dimension d of Python is dimension (dimensions - 1 - d) of C++.
struct rank_layout {
  collective_handle<kept_value<box_layout>> kept;
  std::size_t dimensions;

  /// Throws errc::usage if the team cannot be used here.
  [[nodiscard]] const box_layout& layout() const {
    (void)kept.owner().ranks();
    return kept->value();
  }
};

/// Throws TypeError for other objects.
[[nodiscard]] const rank_layout& layout_of(nb::handle layout);

void bind_box_layout(nb::module_& module);

}  // namespace longshore::python
