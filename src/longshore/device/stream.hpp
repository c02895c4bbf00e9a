// A stream of a device, on which an exchange of fields in device memory can be ordered; and whether
// this process has devices.
#pragma once

namespace longshore {

/// A stream of the program, such as a cudaStream_t or hipStream_t. Null is the default stream of the
/// device that the calling thread has chosen.
struct device_stream {
  void* native;

  device_stream(void* stream) noexcept : native(stream) {}  // implicit: programs pass their streams
  friend bool operator==(const device_stream&, const device_stream&) = default;
};

namespace detail {
/// Whether fields of this process can lie in device memory.
[[nodiscard]] bool has_devices() noexcept;
}  // namespace detail

}  // namespace longshore
