// Tasks share large copies.
#pragma once

#include <longshore/machine/tasks.hpp>

#include <cstddef>

namespace longshore::detail {

/// Calls body(task, count) in each of the `count` tasks of `workers`. Calls body(0, 1) in the
/// calling thread if `workers` is null or has one task, or for fewer than 256 KiB: starting tasks
/// costs some microseconds, and a copy of 256 KiB takes longer.
template <class Body>
void for_task_shares(tasks* workers, std::size_t bytes, const Body& body) {
  constexpr std::size_t shared_from_bytes = 256 * 1024;
  if (workers == nullptr || workers->count() == 1 || bytes < shared_from_bytes)
    body(0, 1);
  else
    workers->run([&](int task) { body(task, workers->count()); });
}

}  // namespace longshore::detail
