// Which devices tests use: emulated ones, unless LONGSHORE_TEST_DEVICE is `own` (tools/check_device).
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/device/emulated.hpp>

#include <cstdlib>
#include <string_view>

namespace longshore::testing {

inline emulated_devices& emulated() {
  static emulated_devices devices;
  return devices;
}
[[nodiscard]] inline bool is_emulated() {
  const char* const device = std::getenv("LONGSHORE_TEST_DEVICE");
  return device == nullptr || std::string_view(device) != "own";
}
/// The devices of tests that need no emulation.
inline detail::device_driver& tested_devices() {
  if (is_emulated()) return emulated();
  auto* const own = detail::installed_driver();
  if (own == nullptr) fail(errc::unsupported, "LONGSHORE_TEST_DEVICE=own: there is no device");
  return *own;
}

}  // namespace longshore::testing
