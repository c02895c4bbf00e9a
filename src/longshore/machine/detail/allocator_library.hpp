// Allocators of other libraries (jemalloc, mimalloc, tcmalloc), loaded by name at run time. malloc
// stays the function of the C library.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// The functions of one allocator, valid until the program ends.
struct allocator_library {
  void* (*allocate)(std::size_t bytes) = nullptr;
  void (*release)(void* data) = nullptr;
};

[[nodiscard]] std::vector<std::string> allocator_library_names();

struct allocator_search {
  allocator_library library;           ///< usable if `missing` is empty
  std::optional<std::string> missing;  ///< why the library is not available, and what to do
};

/// Loads a library, one of allocator_library_names(), through the system's loader. Searches once
/// per library and process; later calls return the first result at once.
[[nodiscard]] allocator_search find_allocator_library(std::string_view name);

}  // namespace longshore::detail
