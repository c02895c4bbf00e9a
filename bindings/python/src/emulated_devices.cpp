// Devices that need no GPU, for tests of the package.
#include "module.hpp"

#include <longshore/device/emulated.hpp>
#include <longshore/exchange/device_installation.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace longshore::python {

void bind_emulated_devices(nanobind::module_& module) {
  static testing::emulated_devices devices;
  // Keeps allocations and streams until the process ends, and returns their addresses.
  static std::vector<std::shared_ptr<void>> kept;
  const auto keep = [](std::shared_ptr<void> made) {
    return reinterpret_cast<std::uintptr_t>(kept.emplace_back(std::move(made)).get());
  };
  module.def_submodule("_emulated")
      .def("install", [] { static const detail::device_installation made(devices); })
      .def("memory", [=](std::size_t bytes) { return keep(devices.allocate(0, bytes)); })
      .def("stream", [=] { return keep(devices.make_stream(0)); })
      .def("copy", [](std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
        devices.copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
      });
}

}  // namespace longshore::python
