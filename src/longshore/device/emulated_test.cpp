// Tests that emulated devices behave like devices, so that tests of exchanges find mistakes.
#include <longshore/device/emulated.hpp>

#include <longshore/core/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <numeric>

namespace longshore::testing {
namespace {

using detail::device_op;
using detail::device_piece;

class EmulatedDevice : public ::testing::Test {
 protected:
  // Memory of a device with the numbers first, first + 1, ...
  std::shared_ptr<int> numbers(int device, std::size_t count, int first) {
    auto memory = devices.allocate(device, count * sizeof(int));
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), first);
    devices.copy(memory.get(), values.data(), count * sizeof(int));
    return {memory, reinterpret_cast<int*>(memory.get())};
  }
  std::vector<int> values_of(const int* memory, std::size_t count) {
    std::vector<int> values(count);
    devices.copy(values.data(), memory, count * sizeof(int));
    return values;
  }
  static device_piece piece(int* to, const int* from, std::size_t count) {
    device_piece made{reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
                      sizeof(int)};
    made.extents[0] = count;
    made.to_strides[0] = made.from_strides[0] = sizeof(int);
    return made;
  }

  emulated_devices devices{false};
  std::shared_ptr<void> stream = devices.make_stream(0), other = devices.make_stream(0);
  std::shared_ptr<int> a = numbers(0, 4, 1), b = numbers(0, 4, 10);
};

TEST_F(EmulatedDevice, host_cannot_read_or_write_its_memory) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::write(ends[1], a.get(), sizeof(int)), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(::write(ends[1], "abcd", 4), 4);
  EXPECT_EQ(::read(ends[0], a.get(), sizeof(int)), -1);
  EXPECT_EQ(errno, EFAULT);
  const auto pinned = devices.allocate_pinned(4);
  EXPECT_EQ(::write(ends[1], pinned.get(), 4), 4);
  ::close(ends[0]), ::close(ends[1]);
}

TEST_F(EmulatedDevice, knows_where_memory_lies) {
  const auto far = numbers(1, 4, 0);
  int own = 0;
  EXPECT_EQ(devices.device_of(a.get() + 3), 0);
  EXPECT_EQ(devices.device_of(far.get()), 1);
  EXPECT_EQ(devices.device_of(&own), -1);
  EXPECT_EQ(devices.device_of(devices.allocate_pinned(8).get()), -1);
  EXPECT_EQ(devices.device_of(device_stream(devices.make_stream(1).get())), 1);
}

TEST_F(EmulatedDevice, work_begins_when_somebody_waits) {
  const auto copies = devices.prepare(0, std::vector{piece(a.get(), b.get(), 4)});
  const auto event = devices.make_event(0);
  copies(stream.get());
  devices.record(0, stream.get(), event);
  EXPECT_EQ(values_of(a.get(), 4), (std::vector{1, 2, 3, 4}));
  devices.synchronise(event);
  EXPECT_EQ(values_of(a.get(), 4), (std::vector{10, 11, 12, 13}));
}

TEST_F(EmulatedDevice, work_begins_when_somebody_has_asked_several_times) {
  const auto copies = devices.prepare(0, std::vector{piece(a.get(), b.get(), 4)});
  const auto event = devices.make_event(0);
  EXPECT_TRUE(devices.is_done(event));  // never recorded
  copies(stream.get());
  devices.record(0, stream.get(), event);
  EXPECT_FALSE(devices.is_done(event));
  EXPECT_EQ(values_of(a.get(), 1), std::vector{1});
  while (!devices.is_done(event)) {
  }
  EXPECT_EQ(values_of(a.get(), 1), std::vector{10});
}

TEST_F(EmulatedDevice, streams_have_no_order_without_events) {
  const auto c = numbers(0, 4, 50);
  const auto first = devices.prepare(0, std::vector{piece(b.get(), c.get(), 4)});
  const auto second = devices.prepare(0, std::vector{piece(a.get(), b.get(), 4)});
  const auto before = devices.make_event(0), end = devices.make_event(0);
  for (const bool is_ordered : {false, true}) {
    first(stream.get());
    devices.record(0, stream.get(), before);
    if (is_ordered) devices.wait(0, other.get(), before);
    second(other.get());
    devices.record(0, other.get(), end);
    devices.synchronise(end);
    EXPECT_EQ(values_of(a.get(), 1), std::vector{is_ordered ? 50 : 10});
  }
}

TEST_F(EmulatedDevice, copies_boxes_and_lists) {
  const auto to = numbers(0, 12, 0);
  const std::vector<std::uint32_t> list{3, 0, 2};
  std::vector pieces{piece(to.get(), b.get(), 2), piece(to.get() + 4, b.get(), 3),
                     piece(to.get() + 9, b.get(), 3)};
  pieces[0].extents[1] = 2;  // transposed: 10 12 / 11 13
  pieces[0].from_strides[0] = 2 * sizeof(int), pieces[0].from_strides[1] = sizeof(int);
  pieces[0].to_strides[1] = 2 * sizeof(int);
  pieces[1].to_index = list.data();
  pieces[2].from_index = list.data();
  const auto event = devices.make_event(0);
  devices.prepare(0, pieces)(stream.get());  // the launch keeps what it needs
  devices.record(0, stream.get(), event);
  devices.synchronise(event);
  EXPECT_EQ(values_of(to.get(), 12), (std::vector{10, 12, 11, 13, 11, 5, 12, 10, 8, 13, 10, 12}));
  EXPECT_EQ(devices.launches(), 1u);
}

TEST_F(EmulatedDevice, combines_in_the_order_of_the_sources) {
  const auto values = devices.allocate(0, 4 * sizeof(float));
  const float given[] = {1, 1e8F, -1e8F, 1};
  devices.copy(values.get(), given, sizeof given);
  detail::device_sums sums;
  sums.targets = {values.get()};
  for (const int i : {1, 2, 3})
    sums.sources.push_back(values.get() + static_cast<std::size_t>(i) * sizeof(float));
  sums.begins = {0, 3};
  const auto event = devices.make_event(0);
  devices.prepare(0, sums)(stream.get(), {detail::device_number::f32, device_op::add});
  devices.record(0, stream.get(), event);
  devices.synchronise(event);
  float result = 0;
  devices.copy(&result, values.get(), sizeof result);
  EXPECT_EQ(result, 1);  // ((1 + 1e8) - 1e8) + 1
}

TEST_F(EmulatedDevice, refuses_what_a_device_cannot_do) {
  const auto far = numbers(1, 4, 0);
  int own[4] = {};
  const auto fails = [&](const device_piece& wrong, const char* words) {
    const auto event = devices.make_event(0);
    devices.prepare(0, std::vector{wrong})(stream.get());
    devices.record(0, stream.get(), event);
    try {
      devices.synchronise(event);
      ADD_FAILURE() << words;
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  fails(piece(a.get(), far.get(), 4), "uses memory of device 1");
  fails(piece(own, a.get(), 4), "an address that no device knows");  // not pinned
  fails(piece(a.get(), b.get(), 1 << 20), "an address that no device knows");
  detail::device_sums unaligned;
  unaligned.targets = {reinterpret_cast<std::byte*>(a.get()) + 1}, unaligned.begins = {0, 0};
  devices.prepare(0, unaligned)(stream.get(), {detail::device_number::i32, device_op::add});
  fails(piece(a.get(), b.get(), 4), "not aligned");
  auto freed = numbers(0, 4, 0);
  auto* const gone = freed.get();
  freed = nullptr;
  fails(piece(a.get(), gone, 4), "an address that no device knows");
  EXPECT_THROW(devices.prepare(1, std::vector{piece(far.get(), far.get(), 1)})(stream.get()),
               error);
  EXPECT_THROW(devices.record(0, stream.get(), devices.make_event(1)), error);
}

TEST(WidenedPiece, has_the_widest_elements_and_words_that_all_addresses_allow) {
  alignas(16) std::byte to[256], from[256];
  const auto widened = [&](std::size_t skipped, std::size_t count, std::ptrdiff_t row_bytes,
                           std::ptrdiff_t step_bytes) {
    device_piece piece{to, from + skipped, 4};
    piece.extents[0] = count, piece.extents[1] = 3;
    piece.to_strides[0] = piece.from_strides[0] = step_bytes;
    piece.to_strides[1] = piece.from_strides[1] = row_bytes;
    const auto made = detail::widened(piece);
    EXPECT_EQ(made.size() * made.element_bytes, piece.size() * piece.element_bytes);
    return std::array<std::size_t, 3>{made.extents[0], made.element_bytes, made.word_bytes};
  };
  using found = std::array<std::size_t, 3>;
  EXPECT_EQ(widened(0, 8, 64, 4), (found{2, 16, 16}));
  EXPECT_EQ(widened(8, 8, 64, 4), (found{4, 8, 8}));   // the sources begin in the middle
  EXPECT_EQ(widened(0, 6, 64, 4), (found{3, 8, 8}));   // 24 bytes
  EXPECT_EQ(widened(0, 8, 40, 4), (found{4, 8, 8}));   // rows begin at multiples of 8
  EXPECT_EQ(widened(4, 8, 64, 4), (found{8, 4, 4}));   //
  EXPECT_EQ(widened(0, 4, 64, 16), (found{4, 4, 4}));  // gaps
  EXPECT_EQ(widened(2, 4, 64, 16), (found{4, 4, 2}));
  const std::uint32_t index[] = {1};
  const device_piece listed{to, from, 8, 1, {1, 1, 1}, {12, 0, 0}, {8, 0, 0}, index};
  EXPECT_EQ(detail::widened(listed).word_bytes, 4u);  // the element is 12 bytes behind the first
}

}  // namespace
}  // namespace longshore::testing
