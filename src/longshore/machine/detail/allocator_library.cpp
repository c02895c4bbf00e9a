// Loads jemalloc, mimalloc or tcmalloc by dlopen, and looks up the functions that allocate and
// free. The class memory_block uses this for the memory policies of these names.
#include <longshore/machine/detail/allocator_library.hpp>

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <mutex>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace longshore::detail {
namespace {

// RTLD_NODELETE: blocks, and the allocator's data of each thread, may live until the program ends.
void* load(const char* file) {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler ignore_memory_that_the_library_keeps;
#endif
  return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

struct known_library {
  std::string_view name;
  std::array<const char*, 2> files;  // usual file names, best first
  // possible names of the functions; names that only this library uses come first
  std::array<const char*, 2> allocate;
  std::array<const char*, 2> release;
  const char* package;  // Debian's package
};

constexpr known_library libraries[] = {
    {"jemalloc",
     {"libjemalloc.so.2", "libjemalloc.so"},
     {"je_malloc", "malloc"},
     {"je_free", "free"},
     "libjemalloc2"},
    {"mimalloc",
     {"libmimalloc.so.2", "libmimalloc.so.2.0"},
     {"mi_malloc", "mi_malloc"},
     {"mi_free", "mi_free"},
     "libmimalloc2.0"},
    {"tcmalloc",
     {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"},
     {"tc_malloc", "malloc"},
     {"tc_free", "free"},
     "libtcmalloc-minimal4"},
};

// Finds a function that the library itself defines. dlsym alone also searches the dependencies of
// the library. One of them is the C library, which has a malloc, too.
void* function_of_library(void* handle, const std::array<const char*, 2>& names) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  for (const char* name : names) {
    void* function = dlsym(handle, name);
    Dl_info info{};
    if (function != nullptr && dladdr(function, &info) != 0 &&
        reinterpret_cast<ElfW(Addr)>(info.dli_fbase) == map->l_addr)
      return function;
  }
  return nullptr;
}

std::string load_error_text(const known_library& library, const std::string& loader_message) {
  if (loader_message.find("static TLS") != std::string::npos)
    return fmt::format(
        "{}: it needs thread-local storage that is reserved at program start: set "
        "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 or LD_PRELOAD={} and start again",
        loader_message, library.files[0]);
  return fmt::format("{}: install it (Debian: {}) or add its folder to LD_LIBRARY_PATH",
                     loader_message, library.package);
}

allocator_search search_library(const known_library& library) {
  std::string reason;
  for (const char* file : library.files) {
    void* handle = load(file);
    if (handle == nullptr) {
      const char* text = dlerror();
      if (reason.empty() || reason.find("No such file") != std::string::npos)
        reason = text != nullptr ? text : "cannot be loaded";
      continue;
    }
    allocator_search result;
    result.library.allocate =
        reinterpret_cast<void* (*)(std::size_t)>(function_of_library(handle, library.allocate));
    result.library.release =
        reinterpret_cast<void (*)(void*)>(function_of_library(handle, library.release));
    dlclose(handle);  // only lowers the reference count: the library stays loaded
    if (result.library.allocate != nullptr && result.library.release != nullptr) return result;
    reason = fmt::format("{} has no function {}", file, library.allocate[0]);
  }
  return {.library = {},
          .missing = fmt::format("memory {}: {}", library.name, load_error_text(library, reason))};
}

}  // namespace

std::vector<std::string> allocator_library_names() {
  std::vector<std::string> names;
  for (const auto& library : libraries) names.emplace_back(library.name);
  return names;
}

allocator_search find_allocator_library(std::string_view name) {
  const auto library = std::ranges::find(libraries, name, &known_library::name);
  if (library == std::end(libraries))
    return {.library = {}, .missing = fmt::format("{} is not a known allocator", name)};
  // A search for a missing library goes through all folders of the loader, so it is done once.
  static std::array<std::once_flag, std::size(libraries)> searched;
  static std::array<allocator_search, std::size(libraries)> results;
  const auto i = static_cast<std::size_t>(library - std::begin(libraries));
  std::call_once(searched[i], [&] { results[i] = search_library(*library); });
  return results[i];
}

}  // namespace longshore::detail
