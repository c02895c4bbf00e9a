// Tests that a process reads device memory of another process, after an event of that process. This
// program starts itself again: a process cannot use devices after fork() alone.
#include <longshore/device/tested_devices_test.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

namespace longshore::testing {
namespace {

using detail::device_handle;
using detail::device_piece;

constexpr std::size_t count = 1000;
constexpr std::size_t first_shared = 3;  // in the memory

struct shared_handles {
  device_handle memory, event;
};

std::vector<int> numbers() {
  std::vector<int> made(count);
  std::iota(made.begin(), made.end(), 1);
  return made;
}

class DeviceProcess : public ::testing::Test {
 protected:
  std::shared_ptr<int> allocate(std::size_t elements) {
    const auto memory = devices.allocate(0, elements * sizeof(int));
    return {memory, reinterpret_cast<int*>(memory.get())};
  }
  void launch_copy(int* to, const int* from) {
    device_piece piece{reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
                       sizeof(int)};
    piece.extents[0] = count;
    piece.to_strides[0] = piece.from_strides[0] = sizeof(int);
    copies = devices.prepare(0, std::span(&piece, 1));
    copies(stream.get());
  }

  detail::device_driver& devices = tested_devices();
  std::shared_ptr<void> stream = devices.make_stream(0);
  detail::device_copies copies;
};

TEST_F(DeviceProcess, reads_memory_of_another_process_after_an_event) {
  const auto values = numbers();
  const auto source = allocate(count), shared = allocate(first_shared + count);
  devices.copy(source.get(), values.data(), count * sizeof(int));
  const auto event = devices.make_event(0, true);
  launch_copy(shared.get() + first_shared, source.get());
  devices.record(0, stream.get(), event);

  const auto memory = devices.share_memory(shared.get() + first_shared);
  ASSERT_TRUE(memory.has_value());
  const shared_handles handles{*memory, devices.share_event(event)};
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_ends[0], STDIN_FILENO);
    ::close(pipe_ends[1]);
    ::execl("/proc/self/exe", "reader", "--gtest_also_run_disabled_tests",
            "--gtest_filter=DeviceProcess.DISABLED_reader", nullptr);
    ::_exit(127);
  }
  ::close(pipe_ends[0]);
  EXPECT_EQ(::write(pipe_ends[1], &handles, sizeof handles), sizeof handles);
  ::close(pipe_ends[1]);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Runs in the other process.
TEST_F(DeviceProcess, DISABLED_reader) {
  shared_handles handles;
  ASSERT_EQ(::read(STDIN_FILENO, &handles, sizeof handles), sizeof handles);
  const auto copied = allocate(count);
  auto opened = devices.open_memory(0, handles.memory);
  ASSERT_NE(opened, nullptr);
  auto event = devices.open_event(0, handles.event);
  devices.wait(0, stream.get(), event);
  launch_copy(copied.get(), reinterpret_cast<const int*>(opened.get()));
  opened.reset();  // waits for the launch
  std::vector<int> values(count);
  devices.copy(values.data(), copied.get(), count * sizeof(int));
  EXPECT_EQ(values, numbers());
}

TEST_F(DeviceProcess, memory_of_the_host_is_not_shared) {
  const auto pinned = devices.allocate_pinned(8);
  EXPECT_FALSE(devices.share_memory(pinned.get()).has_value());
}

}  // namespace
}  // namespace longshore::testing
