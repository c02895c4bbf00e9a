// Devices that need no GPU, for tests. They find missing synchronisation and wrong addresses:
//
// - The host can neither read nor write memory of a device. Launches use a second mapping of it.
// - Work on a stream does not begin before somebody waits for it, or has asked several times.
// - Launches can only use memory of devices and pinned memory, within its bounds; and memory of
//   another device only if their device can read it. All words are aligned.
// - The process ends if memory is freed that another process has open.
//
// Processes share memory and events by memfd_create(2). Other processes wait only for work that this
// process runs, so a thread runs the work before a shared event, some time after it was recorded.
#pragma once

#include <longshore/device/driver.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace longshore::testing {

class emulated_devices final : public detail::device_driver {
 public:
  /// `see_each_other` tells whether devices can read each other's memory.
  explicit emulated_devices(bool see_each_other = true) : see_each_other_(see_each_other) {}
  ~emulated_devices() override;

  /// For tests. Chooses the device of the calling thread.
  void use_device(int device);
  /// For tests. Appends a launch with any work to a stream. The work gets the addresses at which it
  /// can use memory of devices from at().
  void launch(device_stream stream, std::function<void()> work);
  [[nodiscard]] std::byte* at(const void* address, std::size_t bytes, int device,
                              std::size_t word_bytes = 1);
  template <class T>
  [[nodiscard]] T* at(T* first, std::size_t count, int device) {
    return reinterpret_cast<T*>(at(static_cast<const void*>(first), count * sizeof(T), device));
  }
  /// The number of launches of copies and sums until now.
  [[nodiscard]] std::size_t launches() const noexcept { return launches_; }

  /// For tests. Whether the test lets libraries use memory of the devices.
  bool lets_libraries_use_memory = false;
  /// For tests. Whether allocations of the calling thread fail.
  static inline thread_local bool is_full = false;

  [[nodiscard]] std::string_view name() const noexcept override { return "emulated"; }
  [[nodiscard]] bool is_known_to_libraries() const noexcept override {
    return lets_libraries_use_memory;
  }
  [[nodiscard]] int device_of(const void* address) override;
  [[nodiscard]] int device_of(device_stream stream) override;
  [[nodiscard]] int current_device() override;
  [[nodiscard]] bool can_read(int device, int other) override {
    return device == other || see_each_other_;
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate(int device, std::size_t bytes) override;
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  [[nodiscard]] std::shared_ptr<void> make_stream(int device) override;
  [[nodiscard]] detail::device_event make_event(int device, bool for_processes = false) override;
  void record(int device, device_stream stream, const detail::device_event& event) override;
  void wait(int device, device_stream stream, const detail::device_event& event) override;
  [[nodiscard]] bool is_done(const detail::device_event& event) override;
  void synchronise(const detail::device_event& event) override;
  [[nodiscard]] std::optional<detail::device_handle> share_memory(int device,
                                                                  const void* address) override;
  [[nodiscard]] std::optional<detail::device_handle> share_event(
      int device, const detail::device_event& event) override;
  [[nodiscard]] std::shared_ptr<std::byte> open_memory(
      int device, const detail::device_handle& handle) override;
  [[nodiscard]] detail::device_event open_event(int device,
                                                const detail::device_handle& handle) override;
  [[nodiscard]] detail::device_copies prepare(
      int device, std::span<const detail::device_piece> pieces) override;
  [[nodiscard]] detail::device_combines prepare(int device,
                                                const detail::device_sums& sums) override;

 private:
  struct allocation {
    std::size_t bytes;
    int device;  // -1 for pinned memory
    std::byte* alias;
    std::shared_ptr<const int> file;  // locked while another process has it open
  };
  struct work_queue;
  // How often an event for processes was recorded, and reached.
  struct shared_counts {
    std::atomic<std::uint64_t> recorded, reached;
  };
  // A launch; or a wait, until another stream or an event of another process comes to a position.
  struct work {
    std::function<void()> run = {};
    std::uint64_t position = 0;
    std::shared_ptr<work_queue> after = {};
    std::shared_ptr<shared_counts> counts = {};
  };
  struct work_queue {
    int device;
    std::deque<work> waiting = {};
    std::uint64_t appended = 0, done = 0;
    // The latest event for processes, and when it was recorded.
    std::uint64_t shared = 0;
    std::chrono::steady_clock::time_point shared_at = {};
  };
  struct event {
    int device;
    std::shared_ptr<work_queue> stream = nullptr;  // null if it was never recorded
    std::uint64_t position = 0;
    int asked = 0;
    std::shared_ptr<const int> file = {};
    std::shared_ptr<shared_counts> counts = {};  // null if it is for this process only
    bool is_foreign = false;                     // of another process
  };
  [[nodiscard]] static std::shared_ptr<shared_counts> mapped_counts(int file);
  [[nodiscard]] std::shared_ptr<work_queue> queue_of(int device, device_stream stream);
  void append(int device, device_stream stream, work appended);
  void append_launch(int device, device_stream stream, std::function<void()> launched);
  [[nodiscard]] std::shared_ptr<std::byte> map(std::shared_ptr<const int> file, std::size_t bytes,
                                               int device);
  [[nodiscard]] std::vector<std::shared_ptr<work_queue>> all_queues() const;
  bool step(work_queue& stream);
  void run(work_queue& stream, std::uint64_t position);
  void run_shared_work();

  const bool see_each_other_;
  mutable std::recursive_mutex mutex_;
  std::map<const std::byte*, allocation> allocations_;
  std::map<void*, std::shared_ptr<work_queue>> streams_;
  std::map<int, std::shared_ptr<work_queue>> default_streams_;  // by device
  std::size_t launches_ = 0;
  std::atomic<bool> has_ended_ = false;  // no other process is awaited any more
  std::jthread runs_shared_work_;        // begins with the first event for processes
};

}  // namespace longshore::testing
