// The driver of this process, and the events of a driver.
#include <longshore/device/driver.hpp>

#include <atomic>

namespace longshore::detail {

#ifdef LONGSHORE_HAVE_CUDA
device_driver* cuda_driver() noexcept;  // cuda.cu: null without a device
#endif

namespace {

std::atomic<device_driver*> replaced{nullptr};

}  // namespace

const device_event* device_driver::take_event(int device) {
  const std::lock_guard lock(pool_mutex_);
  auto& spare = spare_events_[device];
  if (spare.empty()) {
    events_.push_back(std::make_unique<device_event>(make_event(device)));
    return events_.back().get();
  }
  const auto* const event = spare.back();
  spare.pop_back();
  return event;
}
void device_driver::give_back(int device, const device_event* event) {
  const std::lock_guard lock(pool_mutex_);
  spare_events_[device].push_back(event);
}

device_driver* installed_driver() noexcept {
  if (auto* const driver = replaced.load(std::memory_order_acquire); driver != nullptr)
    return driver;
#ifdef LONGSHORE_HAVE_CUDA
  return cuda_driver();
#else
  return nullptr;
#endif
}

driver_installation::driver_installation(device_driver& driver) noexcept
    : before_(replaced.exchange(&driver)) {}
driver_installation::~driver_installation() { replaced.store(before_); }

}  // namespace longshore::detail
