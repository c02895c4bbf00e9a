// Lets plans use a driver that the program itself makes, such as the emulation of tests.
#pragma once

#include <longshore/device/driver.hpp>

namespace longshore::detail {

/// Replaces the driver of this process for the life of the object, and lets plans use devices. No plan
/// exists when it begins and ends. The driver outlives all teams.
class device_installation {
 public:
  explicit device_installation(device_driver& driver);
  ~device_installation() { install_driver(before_); }
  device_installation(const device_installation&) = delete;
  device_installation& operator=(const device_installation&) = delete;

 private:
  device_driver* before_;
};

}  // namespace longshore::detail
