// A stream of a device, on which an exchange of fields in device memory can be ordered; and whether
// this process has devices.
#pragma once

namespace longshore {

/// A stream of the program, such as a cudaStream_t or hipStream_t. Null is the default stream of the
/// device that the calling thread has chosen.
///
/// A call that starts an operation with a stream reads and writes fields in device memory
/// (docs/guides/devices.md) after the work that the stream has now. Without a stream, their values
/// are complete when the call begins. wait() with a stream returns when all messages of this rank
/// have arrived. Work that is then appended to the stream begins after the operation. If no message
/// passes through the host, wait() waits for no work of the device. Both throw errc::usage for a
/// stream of another device, and for a stream if the fields lie in memory of the host.
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
