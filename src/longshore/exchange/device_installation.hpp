// Lets plans use a driver that the program itself makes, such as the emulation of tests.
#pragma once

#include <longshore/device/driver.hpp>

namespace longshore::detail {

/// Replaces the driver of this process for the life of the object, as driver_installation, and lets
/// plans use devices.
class device_installation {
 public:
  explicit device_installation(device_driver& driver);

 private:
  driver_installation installed_;
};

}  // namespace longshore::detail
