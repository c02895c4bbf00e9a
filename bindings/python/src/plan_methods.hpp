// The methods of Halo, Boxes, BoxCopy and Ghost that begin an operation, test it and wait for it.
// These classes have a member function plan(), which returns their kept_plan.
#pragma once

#include "kept_plan.hpp"
#include "kept_text.hpp"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <type_traits>

// The last parameter of a call, in signatures.
#define STREAM_OF_CALL "stream: int | None = None) -> None"

namespace longshore::python {

template <class Self>
[[nodiscard]] bool test_plan(const Self& self) {
  auto& plan = self.plan();
  bool complete = false;
  {
    const release_gil unlocked;
    complete = plan.test();
  }
  if (complete) plan.errors().rethrow();
  return complete;
}

template <class Self>
void wait_for_plan(const Self& self, nb::handle stream) {
  auto& plan = self.plan();
  const auto on = stream_from(stream);
  {
    const release_gil unlocked;
    plan.wait(on);
  }
  plan.errors().rethrow();
}

/// A method that begins an operation by `start` and waits for it. Its last argument is a stream.
template <class Self, class... Given>
[[nodiscard]] auto completing(void (*start)(Self&, Given...)) {
  return [start](Self& self, Given... given) {
    start(self, given...);
    wait_for_plan(self, std::get<sizeof...(Given) - 1>(std::tie(given...)));
  };
}

/// Adds the method start_NAME, and the method NAME, which also waits. `parameters` ends their
/// signatures; `text` and `start_text` describe them.
template <class Self, class... Given, class... Arguments>
void add_operation(nb::class_<std::remove_const_t<Self>>& type, const std::string& name,
                   void (*start)(Self&, Given...), const char* parameters, const char* text,
                   const char* start_text, const Arguments&... arguments) {
  const auto signature = [&](const std::string& of) {
    return nb::sig(kept_text(fmt::format("def {}({}", of, parameters)));
  };
  type.def(kept_text(name), completing(start), arguments..., signature(name),
           kept_text(fmt::format("{}: start_{}() and wait().", text, name)));
  type.def(kept_text("start_" + name), start, arguments..., signature("start_" + name), start_text);
}

}  // namespace longshore::python
