// Memory allocators of other people (jemalloc, mimalloc, tcmalloc), loaded by name while the
// program runs. Only what asks for them uses them: the C library's malloc stays what it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// How to allocate and free with one of them. Stays valid until the program ends: an allocator is
/// never unloaded.
struct allocator_library {
  void* (*allocate)(std::size_t bytes) = nullptr;
  void (*release)(void* data) = nullptr;
};

[[nodiscard]] std::vector<std::string> allocator_library_names();

struct allocator_search {
  allocator_library found;             ///< usable when `missing` holds nothing
  std::optional<std::string> missing;  ///< why it cannot be had, and what would help, as a sentence
};

/// Loads the library of that name, one of allocator_library_names(), from where the system's loader
/// finds libraries: once in a process, like all that the loader does. Asking again gives the same
/// answer at once.
[[nodiscard]] allocator_search find_allocator_library(std::string_view name);

}  // namespace longshore::detail
