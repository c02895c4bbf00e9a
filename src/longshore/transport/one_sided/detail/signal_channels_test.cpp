// Both ends of signal channels over a fake library. The fake reads and delivers a put only when the
// test says so. The tests order the events of the network at random, until the numbers have wrapped
// several times.
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/one_sided/detail/signal_channels.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

namespace longshore::one_sided {
namespace {

// The puts of one rank that are in flight. Data and signals arrive one by one, in order.
class wire {
 public:
  void put(std::byte* to, const void* from, std::size_t bytes) {
    if (bytes > 0) in_flight_.push_back({to, from, bytes});
  }
  [[nodiscard]] bool deliver_one() {
    if (in_flight_.empty()) return false;
    const auto& [to, from, bytes] = in_flight_.front();
    std::memcpy(to, from, bytes);
    in_flight_.pop_front();
    return true;
  }

 private:
  struct operation {
    std::byte* to;
    const void* from;
    std::size_t bytes;
  };
  std::deque<operation> in_flight_;
};

class wired_region final : public region {
 public:
  wired_region(std::byte* mine, std::byte* others, wire& out)
      : region(mine), others_(others), out_(out) {}
  void put_with_signal(int, std::size_t offset, const void* from, std::size_t bytes,
                       std::size_t signal_offset, const std::uint64_t* signal) override {
    out_.put(others_ + offset, from, bytes);
    out_.put(others_ + signal_offset, signal, sizeof *signal);
  }
  // Channels do not call the functions below.
  std::byte* direct(int) override { std::abort(); }
  void put_start(int, std::size_t, const void*, std::size_t) override { std::abort(); }
  void get_start(int, std::size_t, void*, std::size_t) override { std::abort(); }
  void put(int, std::size_t, const void*, std::size_t) override { std::abort(); }
  void get(int, std::size_t, void*, std::size_t) override { std::abort(); }
  std::int64_t fetch_add(int, std::size_t, std::int64_t) override { std::abort(); }

 private:
  std::byte* others_;
  wire& out_;
};

class no_library final : public library {
 public:
  void progress() override {}
  int rank() const override { std::abort(); }
  int size() const override { std::abort(); }
  std::string_view transport_name() const noexcept override { return "none"; }
  std::string version() const override { return ""; }
  std::unique_ptr<region> allocate(std::size_t) override { std::abort(); }
  std::size_t available_bytes(int) const override { std::abort(); }
  std::string capacity_text() const override { return ""; }
  std::vector<std::uint64_t> allgather(std::uint64_t) override { std::abort(); }
  void quiet() override { std::abort(); }
  void abort(int) override { std::abort(); }
  std::unique_ptr<detail::raw_calls> make_raw_calls(region&, std::size_t) override { std::abort(); }
};

// Address space, of which only touched pages cost memory.
class large_space {
 public:
  explicit large_space(std::size_t bytes)
      : bytes_(bytes),
        begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~large_space() {
    if (*this) munmap(begin_, bytes_);
  }
  large_space(const large_space&) = delete;
  large_space& operator=(const large_space&) = delete;
  explicit operator bool() const noexcept { return begin_ != MAP_FAILED; }
  [[nodiscard]] std::byte* begin() const noexcept { return static_cast<std::byte*>(begin_); }

 private:
  std::size_t bytes_;
  void* begin_;
};

// Slots are so long that few bits are left for the numbers in a signal word.
constexpr std::size_t slot_bytes = std::size_t{1} << 38;
// The range of message numbers and of credits in a signal word.
constexpr std::uint64_t numbers = std::uint64_t{1} << 12;

// One of two ranks, with a channel to the other rank and one from it.
struct rank_with_channels {
  rank_with_channels(std::byte* mine, std::byte* others, int slots, bool paired, bool reads_all)
      : memory(mine, others, out),
        to({.slot_bytes = slot_bytes, .slots = slots},
           signal_end(slot_bytes, slots, lib, memory, 0, signal_layout(slot_bytes, slots).bytes)),
        from(
            {.slot_bytes = slot_bytes, .slots = slots, .reads_all = reads_all},
            signal_end(slot_bytes, slots, lib, memory, signal_layout(slot_bytes, slots).bytes, 0)) {
    if (!paired) return;
    to.pair_with(from);
    from.pair_with(to);
  }
  void send() {
    std::byte* const slot = to.reserve();
    if (slot == nullptr) return;
    const std::uint64_t number = ++sent;
    std::memcpy(slot, &number, sizeof number);
    to.commit(sizeof number + sent % 5);
  }
  void receive() {
    const auto message = from.front();
    if (!message) return;
    std::uint64_t number = 0;
    std::memcpy(&number, message->data(), sizeof number);
    ++received;
    ASSERT_EQ(number, received);
    ASSERT_EQ(message->size(), sizeof number + received % 5);
    from.release();
  }

  wire out;
  no_library lib;
  wired_region memory;
  signal_sender to;
  signal_receiver from;
  std::uint64_t sent = 0, received = 0;
};

using two_ranks = std::array<std::unique_ptr<rank_with_channels>, 2>;

std::size_t bytes_per_rank(int slots) { return 2 * signal_layout(slot_bytes, slots).bytes; }

two_ranks make_ranks(const large_space& space, int slots, bool paired, bool reads_all) {
  std::byte *const first = space.begin(), *const second = first + bytes_per_rank(slots);
  return {std::make_unique<rank_with_channels>(first, second, slots, paired, reads_all),
          std::make_unique<rank_with_channels>(second, first, slots, paired, reads_all)};
}

void exchange(int slots, bool paired, bool reads_all) {
  const large_space space(2 * bytes_per_rank(slots));
  if (!space) GTEST_SKIP() << "this machine does not overcommit address space";
  const two_ranks ranks = make_ranks(space, slots, paired, reads_all);
  constexpr std::uint64_t messages = 3 * numbers, max_turns = 100;  // turns per message
  const std::uint64_t seed = mix_bits(static_cast<std::uint64_t>(slots));
  std::uint64_t turns = 0;
  for (; ranks[0]->received < messages || ranks[1]->received < messages; ++turns) {
    ASSERT_LT(turns, max_turns * messages) << "they wait for each other";
    const std::uint64_t random = mix_bits(seed + turns);
    auto& active = *ranks[random & 1];
    switch (random >> 1 & 7) {
      case 0:
      case 1:
      case 2: active.send(); break;
      case 3:
      case 4: active.receive(); break;
      case 5:
        if ((random >> 4 & 7) == 0) active.lib.credits().send_all();
        break;
      default:
        for (std::uint64_t i = random >> 4 & 7; i > 0 && active.out.deliver_one(); --i) {
        }
    }
    if (::testing::Test::HasFatalFailure()) return;
    const std::uint64_t ahead = active.sent - ranks[1 - (random & 1)]->received;
    ASSERT_LE(ahead, static_cast<std::uint64_t>(slots));
  }
  EXPECT_GT(turns, messages);
}

TEST(SignalChannel, keeps_messages_in_order_while_its_numbers_wrap) {
  for (const int slots : {1, 2, 3, 4, 7})
    for (const bool paired : {false, true})
      for (const bool reads_all : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << slots << " slots, " << (paired ? "paired channels" : "separate channels")
                     << (reads_all ? ", receivers read all" : ""));
        exchange(slots, paired, reads_all);
      }
}

TEST(SignalChannel, a_credit_waits_for_half_of_the_slots_if_its_receiver_reads_all) {
  constexpr int slots = 8;
  for (const bool reads_all : {false, true}) {
    const large_space space(2 * bytes_per_rank(slots));
    if (!space) GTEST_SKIP() << "this machine does not overcommit address space";
    const two_ranks ranks = make_ranks(space, slots, false, reads_all);
    rank_with_channels &sender = *ranks[0], &receiver = *ranks[1];
    int first_credit = 0;
    for (int message = 1; message <= slots && first_credit == 0; ++message) {
      sender.send();
      while (sender.out.deliver_one()) {
      }
      receiver.receive();
      receiver.receive();  // finds nothing
      receiver.lib.credits().send_all();
      if (receiver.out.deliver_one()) first_credit = message;
    }
    EXPECT_EQ(first_credit, reads_all ? slots / 2 : 1);
  }
}

TEST(SignalChannel, refuses_more_slots_than_its_numbers_can_distinguish) {
  constexpr int max_slots = numbers / 2 - 1;
  const signal_format format(slot_bytes, max_slots);
  const std::uint64_t word = format.word(numbers + 1, slot_bytes, max_slots);
  EXPECT_TRUE(format.is_of(word, 1));
  EXPECT_FALSE(format.is_of(word, numbers / 2 + 2));
  EXPECT_EQ(format.bytes(word), slot_bytes);
  EXPECT_EQ(format.credit_beyond(word, 0), max_slots);
  EXPECT_EQ(format.credit_beyond(word, max_slots + 1), 0u) << "an older credit adds nothing";
  EXPECT_THROW(signal_format(slot_bytes, max_slots + 1), error);
  EXPECT_THROW(signal_format(~std::size_t{0}, 1), error);
}

}  // namespace
}  // namespace longshore::one_sided
