// Rings with packed and with spread words carry the same messages. The ranks are threads, and the
// parts of the shared memory lie behind each other.
#include <longshore/core/streaming_store.hpp>
#include <longshore/transport/detail/ring_channels.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

namespace longshore::detail {
namespace {

constexpr int ranks = 3, channels_per_pair = 20, messages_per_channel = 11;

// Channel k from any rank to any rank. Every third channel streams, also short messages.
channel_end end_of(int peer, int k) {
  return {.peer = peer,
          .slot_bytes = static_cast<std::size_t>(1 + 237 * k),
          .slots = 1 + k % 4,
          .streams = k % 3 == 0};
}

std::vector<channel_end> all_ends() {
  std::vector<channel_end> ends;
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < channels_per_pair; ++k) ends.push_back(end_of(peer, k));
  return ends;
}

unsigned char byte_of(int from, int to, int k, int message) {
  return static_cast<unsigned char>(1 + from + 3 * to + 9 * k + 31 * message);
}

// Sends and receives as many messages as slots allow, until all have arrived. Returns the messages
// that arrived with right bytes.
int exchange(int rank, ring_channels& rings) {
  std::vector<int> sent(rings.senders.size()), received(rings.receivers.size());
  int right = 0;
  for (bool more = true; more; std::this_thread::yield()) {
    more = false;
    for (std::size_t i = 0; i < rings.senders.size(); ++i) {
      auto& to = rings.senders[i];
      const int k = static_cast<int>(i) % channels_per_pair;
      std::byte* slot = nullptr;
      for (; sent[i] < messages_per_channel && (slot = to.reserve()) != nullptr; ++sent[i]) {
        std::memset(slot, byte_of(rank, to.peer(), k, sent[i]), to.slot_bytes());
        to.commit(to.slot_bytes());
      }
      more = more || sent[i] < messages_per_channel;
    }
    for (std::size_t i = 0; i < rings.receivers.size(); ++i) {
      auto& from = rings.receivers[i];
      const int k = static_cast<int>(i) % channels_per_pair;
      from.prefetch();
      for (; const auto message = from.front(); ++received[i]) {
        const auto expected = std::byte{byte_of(from.peer(), rank, k, received[i])};
        bool is_right = message->size() == from.slot_bytes();
        for (const std::byte b : *message) is_right = is_right && b == expected;
        right += is_right ? 1 : 0;
        from.release();
      }
      more = more || received[i] < messages_per_channel;
    }
  }
  return right;
}

class RingChannels : public ::testing::TestWithParam<ring_packing> {};

TEST_P(RingChannels, all_messages_arrive_unchanged_although_slots_wrap) {
  const auto ends = all_ends();
  const std::size_t part_bytes = ring_channels::needed_bytes(ends, GetParam());
  std::vector<std::byte> memory(ranks * part_bytes + interference_bytes);
  std::byte* const begin = reinterpret_cast<std::byte*>(
      round_up(reinterpret_cast<std::uintptr_t>(memory.data()), interference_bytes));
  std::vector<int> right(ranks);
  std::barrier opened(ranks);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        const auto part_of = [&](int peer) {
          return begin + static_cast<std::size_t>(peer) * part_bytes;
        };
        ring_channels rings(ends, part_of(rank), GetParam());
        opened.arrive_and_wait();
        rings.connect(ends, rank, part_of);
        right[rank] = exchange(rank, rings);
        // Some of the first long messages of a channel that streams are streamed.
        for (std::size_t i = 0; i < ends.size(); ++i)
          EXPECT_EQ(rings.senders[i].streamed_bytes() > 0,
                    can_stream_lines && ends[i].streams && ends[i].slot_bytes >= 2048);
      });
  }
  for (const int of_rank : right)
    EXPECT_EQ(of_rank, ranks * channels_per_pair * messages_per_channel);
}

TEST_P(RingChannels, a_size_that_overflows_is_reported_as_2_to_62) {
  const std::vector<channel_end> ends(4, {0, std::size_t{1} << 61, 2});
  EXPECT_EQ(ring_channels::needed_bytes(ends, GetParam()), std::size_t{1} << 62);
}

TEST_P(RingChannels, slots_lie_behind_all_words_and_do_not_overlap) {
  const auto ends = all_ends();
  ring_layout layout(interference_bytes, ends, GetParam());
  std::size_t end_of_last = 0;
  for (const auto& end : ends) {
    const auto at = layout.next(end);
    EXPECT_GE(at.slots, end_of_last);
    EXPECT_GE(at.slots, at.produced + (1 + static_cast<std::size_t>(end.slots)) * 8);
    EXPECT_GE(at.produced, at.consumed + 8);
    EXPECT_EQ(at.slots % cache_line_bytes, 0u);
    const std::size_t stride = round_up(end.slot_bytes, cache_line_bytes);
    end_of_last = at.slots + static_cast<std::size_t>(end.slots) * stride;
  }
  EXPECT_EQ(layout.end_offset(), end_of_last);
}

INSTANTIATE_TEST_SUITE_P(Packing, RingChannels,
                         ::testing::Values(ring_packing::spread, ring_packing::packed));

}  // namespace
}  // namespace longshore::detail
