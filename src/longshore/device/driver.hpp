// What exchanges need of devices (GPUs): memory, streams, events, and launches that copy or combine
// many pieces at once. A driver implements this for a library, such as CUDA or HIP.
#pragma once

#include <longshore/device/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace longshore::detail {

/// Elements that a launch copies: a box with strides, or a list. Element (x, y, z) of a box is
/// x * strides[0] + y * strides[1] + z * strides[2] bytes behind the first. Element i of a list is
/// index[i] * strides[0] bytes behind it; the indices are memory of the host.
struct device_piece {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t element_bytes = 1;
  std::uint32_t word_bytes = 1;  ///< divides all addresses, element_bytes and strides (widened())
  std::size_t extents[3] = {1, 1, 1};  ///< {count, 1, 1} with a list
  std::ptrdiff_t to_strides[3] = {}, from_strides[3] = {};
  const std::uint32_t *to_index = nullptr, *from_index = nullptr;

  [[nodiscard]] std::size_t size() const noexcept { return extents[0] * extents[1] * extents[2]; }
};

/// Returns the same copy with as few and as wide elements as possible, up to 16 bytes, and with the
/// widest word that all addresses allow.
[[nodiscard]] device_piece widened(device_piece piece) noexcept;

/// Numbers that a launch combines. Target i is combined with the sources begins[i] to
/// begins[i + 1] - 1, in this order.
struct device_sums {
  std::vector<std::byte*> targets;
  std::vector<std::size_t> begins{0};
  std::vector<const std::byte*> sources;
};

/// The types of numbers that devices combine, and the operations.
enum class device_number : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };
enum class device_op : std::uint8_t { add, min, max, bit_or };
struct device_operation {
  device_number number;
  device_op op;
};

/// Appends one launch to a stream, which copies all pieces that were prepared. The pieces must not
/// overlap, and have no order.
using device_copies = std::function<void(device_stream)>;
/// Appends one launch to a stream, which combines all numbers that were prepared. REQUIRES: an
/// operation that the numbers have.
using device_combines = std::function<void(device_stream, const device_operation&)>;

/// A point in the work of a stream.
using device_event = std::shared_ptr<void>;

/// Tells another process of the host where memory of a device, or an event, is found.
struct device_handle {
  std::array<std::byte, 64> bytes{};
  std::uint64_t offset = 0;  ///< of the address in its memory
};

/// Work on a stream is done in order, after the call that appends it. All functions throw
/// errc::transport if the library below reports an error. Any thread may call them.
class device_driver {
 public:
  virtual ~device_driver() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Whether libraries such as MPI may know the memory of these devices.
  [[nodiscard]] virtual bool is_known_to_libraries() const noexcept = 0;

  /// The device in whose memory an address lies, or -1 for memory of the host.
  [[nodiscard]] virtual int device_of(const void* address) = 0;
  /// The default stream belongs to the device of the calling thread.
  [[nodiscard]] virtual int device_of(device_stream stream) = 0;
  /// The device of the calling thread.
  [[nodiscard]] virtual int current_device() = 0;
  /// Whether launches on `device` can read the memory of device `other`.
  [[nodiscard]] virtual bool can_read(int device, int other) = 0;

  /// Memory of a device, or memory of the host that launches of all devices can use. Throws
  /// errc::out_of_memory.
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(int device, std::size_t bytes) = 0;
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) = 0;
  /// Copies bytes between memories of any kind. Returns when they are copied. Does not wait for work
  /// on streams of make_stream().
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  [[nodiscard]] virtual std::shared_ptr<void> make_stream(int device) = 0;
  /// With `for_processes`, other processes can open the event; null if the device cannot share events.
  [[nodiscard]] virtual device_event make_event(int device, bool for_processes = false) = 0;
  /// Sets the event to the end of the work that a stream of the device has now.
  virtual void record(int device, device_stream stream, const device_event& event) = 0;
  /// Work that is appended to a stream of the device from now on begins after the event, which may
  /// be an event of another device.
  virtual void wait(int device, device_stream stream, const device_event& event) = 0;
  /// Whether the work before the event is done; also for an event that was never recorded.
  [[nodiscard]] virtual bool is_done(const device_event& event) = 0;
  /// Returns when the work before the event is done.
  virtual void synchronise(const device_event& event) = 0;
  /// An event of the driver's pool. It exists as long as the driver, because other ranks of the
  /// process may still look at it when its plan is destroyed.
  [[nodiscard]] const device_event* take_event(int device, bool for_processes);
  void give_back(int device, bool for_processes, const device_event* event);

  /// Memory and an event of a device, for other processes. Nothing if they cannot open it.
  [[nodiscard]] virtual std::optional<device_handle> share_memory(int device,
                                                                  const void* address) = 0;
  [[nodiscard]] virtual std::optional<device_handle> share_event(int device,
                                                                 const device_event& event) = 0;
  /// Opens memory of another process for work of a device, and returns the address that was shared.
  /// Null if this process or the device cannot use the memory. Release it before its owner frees it,
  /// and when no launch uses it any more.
  [[nodiscard]] virtual std::shared_ptr<std::byte> open_memory(int device,
                                                               const device_handle& handle) = 0;
  /// Opens an event of another process, which a stream of a device can wait for; or returns null.
  [[nodiscard]] virtual device_event open_event(int device, const device_handle& handle) = 0;

  /// Prepares launches on a device. The functions may be destroyed before their launches are done.
  [[nodiscard]] virtual device_copies prepare(int device, std::span<const device_piece> pieces) = 0;
  [[nodiscard]] virtual device_combines prepare(int device, const device_sums& sums) = 0;

 private:
  std::mutex pool_mutex_;
  std::vector<std::unique_ptr<device_event>> events_;
  // By device, and whether they are for processes.
  std::map<std::pair<int, bool>, std::vector<const device_event*>> spare_events_;
};

/// The driver of this process, or null if fields cannot lie in device memory.
[[nodiscard]] device_driver* installed_driver() noexcept;

/// Replaces the driver of this process until the next call; null stands for that of the build.
/// Returns the argument of the call before. REQUIRES: no plan exists. The driver outlives all teams.
device_driver* install_driver(device_driver* driver) noexcept;

}  // namespace longshore::detail
