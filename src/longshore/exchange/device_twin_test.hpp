// Shared by tests of fields in device memory: the same array in memory of the host and of a device.
// What an exchange of host fields does is tested elsewhere, so both must have equal bytes.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/device/tested_devices_test.hpp>
#include <longshore/exchange/device_installation.hpp>
#include <longshore/transport/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <string>
#include <vector>

namespace longshore::testing {

template <class T>
class device_twin {
 public:
  explicit device_twin(std::size_t count) : device_twin(tested_devices(), count, 0) {}
  device_twin(detail::device_driver& devices, std::size_t count, int device)
      : devices_(&devices),
        device_(device),
        cells_(count),
        memory_(devices.allocate(device, (count + 1) * sizeof(T))) {}
  [[nodiscard]] T* host() noexcept { return cells_.data(); }
  [[nodiscard]] T* device() const noexcept { return reinterpret_cast<T*>(memory_.get()); }
  /// Sets both arrays to the same values. The last bits of their sums depend on the order.
  void fill(unsigned seed) {
    draw(seed);
    devices_->copy(device(), host(), bytes());
  }
  /// REQUIRES: emulated(). Sets the array of the host now, and that of the device when the stream
  /// comes to it.
  void fill_on(device_stream stream, unsigned seed) {
    draw(seed);
    emulated().launch(stream, [=, this, values = cells_] {
      std::copy(values.begin(), values.end(), emulated().at(device(), values.size(), device_));
    });
  }
  /// REQUIRES: emulated(). Appends a launch that adds the number of different elements to `differences`.
  void compare_on(device_stream stream, std::size_t& differences) {
    emulated().launch(stream, [=, this, values = cells_, &differences] {
      differences += differing(emulated().at(device(), values.size(), device_), values);
    });
  }
  /// The number of elements that differ now.
  [[nodiscard]] std::size_t differences() const {
    std::vector<T> now(cells_.size());
    devices_->copy(now.data(), device(), bytes());
    return differing(now.data(), cells_);
  }

 private:
  void draw(unsigned seed) {
    random_stream random(seed);
    for (auto& cell : cells_)
      if constexpr (std::is_integral_v<T>)
        cell = static_cast<T>(random.below(100003));
      else
        cell = static_cast<T>(1 / (1 + static_cast<double>(random.below(1000))));
  }
  static std::size_t differing(const T* now, const std::vector<T>& values) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      count += std::memcmp(now + i, &values[i], sizeof(T)) != 0 ? 1 : 0;
    return count;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return cells_.size() * sizeof(T); }

  detail::device_driver* devices_;
  int device_;
  std::vector<T> cells_;
  std::shared_ptr<std::byte> memory_;
};

[[nodiscard]] unsigned seed_of(const team& team, std::integral auto step) {
  return static_cast<unsigned>(100 * step) + static_cast<unsigned>(team.rank());
}

/// REQUIRES: emulated(). Returns when the work of a stream is done.
inline void synchronise(device_stream stream) {
  const int device = emulated().device_of(stream);
  const auto event = emulated().make_event(device);
  emulated().record(device, stream, event);
  emulated().synchronise(event);
}

/// Calls `step`, which must throw an error with this code and these words.
template <class Step>
void expect_refusal(errc code, const std::vector<std::string>& words, const Step& step) {
  try {
    step();
    ADD_FAILURE() << "no error: " << words.front();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    for (const auto& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what() << ": " << word;
  }
}

}  // namespace longshore::testing
