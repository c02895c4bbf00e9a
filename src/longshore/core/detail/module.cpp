// Loads modules from the folder longshore-VERSION beside the library that contains this file.
#include <longshore/core/detail/module.hpp>

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstring>

namespace longshore::detail {
namespace {

std::string folder_of_modules() {
  static const char here = 0;
  Dl_info library{};
  if (dladdr(&here, &library) == 0) return "";
  const std::string path = library.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "longshore-" LONGSHORE_VERSION "/";
}

}  // namespace

const void* find_in_module(const char* name, const char* symbol, std::string& why_missing) {
  const std::string file = folder_of_modules() + name + ".so";
  if (access(file.c_str(), F_OK) != 0) return nullptr;
  // Global: plug-ins of MPI and OpenSHMEM expect the symbols of their library in the process.
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    why_missing = dlerror();
    return nullptr;
  }
  const auto* const version = static_cast<const char*>(dlsym(module, "longshore_module_version"));
  if (version == nullptr || std::strcmp(version, LONGSHORE_VERSION) != 0) {
    why_missing = fmt::format("{} is of another version than " LONGSHORE_VERSION, file);
    return nullptr;
  }
  return dlsym(module, symbol);
}

}  // namespace longshore::detail
