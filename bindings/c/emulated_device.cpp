// The emulated devices of the tests of the C and the Fortran interface.
#include "emulated_device.h"

#include <longshore/device/emulated.hpp>
#include <longshore/exchange/device_installation.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

longshore::testing::emulated_devices devices;
const longshore::detail::device_installation installed(devices);
std::mutex kept_mutex;
std::vector<std::shared_ptr<void>> kept;

void* keep(std::shared_ptr<void> made) {
  const std::lock_guard lock(kept_mutex);
  return kept.emplace_back(std::move(made)).get();
}

std::vector<std::byte> bytes_at(const void* first, std::size_t bytes) {
  const auto* const from = static_cast<const std::byte*>(first);
  return {from, from + bytes};
}

// The end of the work that a stream has now.
longshore::detail::device_event end_of(void* stream) {
  const int device = devices.device_of(longshore::device_stream(stream));
  auto event = devices.make_event(device);
  devices.record(device, stream, event);
  return event;
}

}  // namespace

extern "C" {

void* emulated_memory(size_t bytes) { return keep(devices.allocate(0, bytes)); }
void* emulated_stream(int device) { return keep(devices.make_stream(device)); }

void emulated_store(void* stream, void* to, const void* from, size_t bytes) {
  devices.launch(stream, [to, values = bytes_at(from, bytes)] {
    std::copy(values.begin(), values.end(),
              devices.at(static_cast<std::byte*>(to), values.size(), 0));
  });
}

int emulated_equal(void* stream, const void* cells, const void* expected, size_t bytes) {
  bool is_equal = false;
  devices.launch(stream, [&is_equal, cells, values = bytes_at(expected, bytes)] {
    is_equal = std::equal(values.begin(), values.end(),
                          devices.at(static_cast<const std::byte*>(cells), values.size(), 0));
  });
  emulated_synchronise(stream);
  return is_equal ? 1 : 0;
}

int emulated_is_done(void* stream) { return devices.is_done(end_of(stream)) ? 1 : 0; }
void emulated_synchronise(void* stream) { devices.synchronise(end_of(stream)); }
}
