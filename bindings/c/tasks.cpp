// Makes the tasks of an option, on a layer that the program links: a program that joins a
// communicator does not link OpenMP and oneTBB by itself.
#include "handles.hpp"

#include <longshore/core/error.hpp>

#include <string>

namespace longshore::bindings {

tasks tasks_named(const team& ranks, const char* layer, int count) {
  if (count < 0)
    fail(errc::usage, "{} tasks per rank: use 1 or more, or 0 for the rank's share of the cores",
         count);
  const std::string name(text_or(layer, "serial"));
  if (name == "serial") {
    if (count > 1)
      fail(errc::usage, "{} tasks with layer serial, which has one: use threads, openmp or tbb",
           count);
    return {};
  }
  const int cores = static_cast<int>(ranks.cpus().size());
  return tasks({.layer = name,
                .count = count > 0 ? count : cores,
                .cpus = ranks.cpus(),
                .spin = ranks.waiting().spin},
               detail::linked_layers{});
}

}  // namespace longshore::bindings
