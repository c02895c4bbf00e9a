// Asks the driver where fields lie.
#include <longshore/exchange/detail/device/device_access.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {

field_place place_of(const team& ranks, const rank_memories& memories,
                     std::span<const std::size_t> elements) {
  field_place place;
  auto* const driver = installed_driver();
  for (std::size_t m = 0; m < elements.size(); ++m)
    for (const auto& field : memories[m]) {
      if (elements[m] == 0) continue;
      const int device = driver == nullptr ? -1 : driver->device_of(field.data);
      if (device < 0)
        place.has_host = true;
      else if (place.device.value_or(device) != device)
        fail(errc::usage,
             "the {} field of a plan on rank {} lies in memory of device {}, and another field in "
             "memory of device {}: use one device for all fields of a plan, or a plan per device",
             nth(static_cast<std::size_t>(field.number)), ranks.rank(), device, *place.device);
      else
        place.device = device;
    }
  if (place.has_host && place.device)
    fail(errc::usage,
         "a plan on rank {} has fields in memory of the host and of device {}: make a plan for "
         "each of them",
         ranks.rank(), *place.device);
  return place;
}

}  // namespace longshore::detail
