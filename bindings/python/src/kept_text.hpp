// Texts that are made at run time, for nanobind, which keeps pointers to them.
#pragma once

#include <deque>
#include <string>
#include <utility>

namespace longshore::python {

/// A copy of the text that exists until the process ends.
[[nodiscard]] inline const char* kept_text(std::string text) {
  static std::deque<std::string> kept;
  return kept.emplace_back(std::move(text)).c_str();
}

}  // namespace longshore::python
