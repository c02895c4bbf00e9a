// The driver of this process, and the events of a driver.
#include <longshore/device/driver.hpp>

#include <atomic>

namespace longshore::detail {

#ifdef LONGSHORE_HAVE_GPU
device_driver* gpu_driver() noexcept;  // gpu.cu: null without a device
#endif

namespace {

std::atomic<device_driver*> replaced{nullptr};

}  // namespace

device_piece widened(device_piece piece) noexcept {
  const bool has_lists = piece.to_index != nullptr || piece.from_index != nullptr;
  const auto low_bits_of = [&](std::size_t run_bytes) {
    auto bits = std::size_t{16} | run_bytes | reinterpret_cast<std::uintptr_t>(piece.to) |
                reinterpret_cast<std::uintptr_t>(piece.from);
    const auto add = [&](std::size_t extent, std::ptrdiff_t to, std::ptrdiff_t from) {
      if (extent > 1 || has_lists)
        bits |= static_cast<std::size_t>(to) | static_cast<std::size_t>(from);
    };
    if (run_bytes == piece.element_bytes)
      add(piece.extents[0], piece.to_strides[0], piece.from_strides[0]);
    for (int d = 1; d < 3; ++d) add(piece.extents[d], piece.to_strides[d], piece.from_strides[d]);
    return bits & ~(bits - 1);  // the largest power of 2 that divides all
  };
  const auto dense = static_cast<std::ptrdiff_t>(piece.element_bytes);
  const bool has_runs =
      !has_lists && piece.to_strides[0] == dense && piece.from_strides[0] == dense;
  const std::size_t run_bytes = piece.extents[0] * piece.element_bytes;
  if (const auto word = low_bits_of(run_bytes);
      has_runs && piece.extents[0] > 1 && word > piece.element_bytes) {
    piece.extents[0] = run_bytes / word;
    piece.element_bytes = word;
    piece.to_strides[0] = piece.from_strides[0] = static_cast<std::ptrdiff_t>(word);
  }
  piece.word_bytes = static_cast<std::uint32_t>(low_bits_of(piece.element_bytes));
  return piece;
}

const device_event* device_driver::take_event(int device, bool for_processes) {
  const std::lock_guard lock(pool_mutex_);
  auto& spare = spare_events_[{device, for_processes}];
  if (spare.empty()) {
    events_.push_back(std::make_unique<device_event>(make_event(device, for_processes)));
    return events_.back().get();
  }
  const auto* const event = spare.back();
  spare.pop_back();
  return event;
}
void device_driver::give_back(int device, bool for_processes, const device_event* event) {
  const std::lock_guard lock(pool_mutex_);
  spare_events_[{device, for_processes}].push_back(event);
}

device_driver* installed_driver() noexcept {
  if (auto* const driver = replaced.load(std::memory_order_acquire); driver != nullptr)
    return driver;
#ifdef LONGSHORE_HAVE_GPU
  return gpu_driver();
#else
  return nullptr;
#endif
}

bool has_devices() noexcept { return installed_driver() != nullptr; }

device_driver* install_driver(device_driver* driver) noexcept { return replaced.exchange(driver); }

}  // namespace longshore::detail
