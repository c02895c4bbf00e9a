// Memory of the program that all ranks of the node can read, for fields of halos and ghosts.
#pragma once

#include "handles.hpp"

#include <longshore/transport/shareable_memory.hpp>

#include <cstddef>

struct longshore_memory final : longshore::bindings::resource {
  longshore_memory(longshore_team& owner, std::size_t size_bytes)
      : resource(owner, "memory"), bytes(size_bytes), cells(owner.ranks, size_bytes) {}
  std::size_t bytes;
  longshore::shareable_memory cells;
};

namespace longshore::bindings {

/// The longshore_memory that contains the address; null if there is none.
[[nodiscard]] longshore_memory* find_memory(const longshore_team& owner, const void* address);

}  // namespace longshore::bindings
