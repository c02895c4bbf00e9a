// Tests that two processes read each other's device memory, ordered by events. This program starts
// itself again: a process cannot use devices after fork() alone.
#include <longshore/device/tested_devices_test.hpp>

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <vector>

namespace longshore::testing {
namespace {

using detail::device_handle;
using detail::device_piece;

constexpr std::size_t count = 1000;
constexpr std::size_t first_shared = 3;  // in the memory

// What a process tells the other one.
struct shared_handles {
  device_handle memory, event;
};

std::vector<int> numbers_from(int first) {
  std::vector<int> made(count);
  std::iota(made.begin(), made.end(), first);
  return made;
}

class DeviceProcess : public ::testing::Test {
 protected:
  std::shared_ptr<int> allocate(std::size_t elements) {
    const auto memory = devices.allocate(0, elements * sizeof(int));
    return {memory, reinterpret_cast<int*>(memory.get())};
  }
  std::shared_ptr<int> allocate(const std::vector<int>& values) {
    const auto memory = allocate(values.size());
    devices.copy(memory.get(), values.data(), values.size() * sizeof(int));
    return memory;
  }
  detail::device_copies copy(int* to, const int* from) {
    device_piece piece{reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
                       sizeof(int)};
    piece.extents[0] = count;
    piece.to_strides[0] = piece.from_strides[0] = sizeof(int);
    return devices.prepare(0, std::span(&piece, 1));
  }
  template <class T>
  void send(const T& value) const {
    ASSERT_EQ(::write(socket, &value, sizeof value), sizeof value);
  }
  template <class T>
  void receive(T& value) const {
    ASSERT_EQ(::read(socket, &value, sizeof value), sizeof value);
  }

  // In each round each process fills its memory, and then reads the memory of the other one. The
  // first number tells the process and whether the round is odd.
  void play(int me) {
    const std::array sources{allocate(numbers_from(10 * me)), allocate(numbers_from(10 * me + 1))};
    const auto memory = allocate(first_shared + count), copied = allocate(count);
    int* const shared = memory.get() + first_shared;
    const auto event = devices.make_event(0, true), done = devices.make_event(0);
    const auto my_memory = devices.share_memory(0, shared);
    const auto my_event = devices.share_event(0, event);
    ASSERT_TRUE(my_memory && my_event);
    send(shared_handles{*my_memory, *my_event});
    shared_handles theirs;
    receive(theirs);
    auto opened = devices.open_memory(0, theirs.memory);
    const auto their_event = devices.open_event(0, theirs.event);
    ASSERT_TRUE(opened && their_event);

    const std::array fills{copy(shared, sources[0].get()), copy(shared, sources[1].get())};
    const auto read = copy(copied.get(), reinterpret_cast<const int*>(opened.get()));
    const auto tell_and_wait = [&] {
      devices.record(0, stream.get(), event);
      char token = 0;
      send(token);
      receive(token);
      devices.wait(0, stream.get(), their_event);
    };
    for (int round = 0; round < (is_emulated() ? 6 : 1000); ++round) {
      fills[round % 2](stream.get());
      tell_and_wait();
      read(stream.get());
      if (round % 5 == 1) {
        devices.record(0, stream.get(), done);
        devices.synchronise(done);
        std::vector<int> values(count);
        devices.copy(values.data(), copied.get(), count * sizeof(int));
        ASSERT_EQ(values, numbers_from(10 * (1 - me) + round % 2)) << "round " << round;
      }
      tell_and_wait();  // before the memory is filled again
    }
    devices.record(0, stream.get(), done);
    devices.synchronise(done);
    opened.reset();
    char token = 0;
    send(token);
    receive(token);  // the memory is not freed before the other process has released it
  }

  detail::device_driver& devices = tested_devices();
  std::shared_ptr<void> stream = devices.make_stream(0);
  int socket = STDIN_FILENO;  // to the other process
};

TEST_F(DeviceProcess, reads_memory_of_another_process_between_events) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/proc/self/exe", "other", "--gtest_also_run_disabled_tests",
            "--gtest_filter=DeviceProcess.DISABLED_other_process", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  socket = ends[0];
  play(0);
  ::close(socket);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(DeviceProcess, DISABLED_other_process) { play(1); }

TEST_F(DeviceProcess, memory_of_the_host_is_not_shared) {
  const auto pinned = devices.allocate_pinned(8);
  EXPECT_FALSE(devices.share_memory(0, pinned.get()).has_value());
}

}  // namespace
}  // namespace longshore::testing
