// Tests posted messages: in pieces, in place and in buffers, and which peer is awaited.
#include <longshore/exchange/detail/movers/posted_messages.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace longshore {
namespace {

using detail::posted_end;
using testing::spmd;

std::byte value_of(int rank, std::size_t message, std::size_t byte, int exchange) {
  return static_cast<std::byte>(31 * rank + 7 * static_cast<int>(message) + static_cast<int>(byte) +
                                3 * exchange);
}

// Each rank sends two messages of `bytes` bytes to the next rank of a ring, and receives two. The
// flags tell whether the first message is in place at the sender and at the receiver.
void exchange_in_ring(team& team, std::size_t bytes, std::size_t piece_bytes, bool sends_in_place,
                      bool receives_in_place) {
  const int next = (team.rank() + 1) % team.size(),
            before = (team.rank() + team.size() - 1) % team.size();
  std::vector<std::byte> sent(bytes), received(bytes);
  const std::vector<posted_end> to{{next, bytes, sends_in_place ? sent.data() : nullptr},
                                   {next, bytes}},
      from{{before, bytes, receives_in_place ? received.data() : nullptr}, {before, bytes}};
  const auto messages = mpi::make_request_messages(team, to, from, piece_bytes);
  for (int exchange = 0; exchange < 4; ++exchange) {
    std::fill(received.begin(), received.end(), std::byte{});
    messages->start();
    for (std::size_t m = 0; m < 2; ++m) {
      std::byte* const data = m == 0 && sends_in_place ? sent.data() : messages->outgoing(m);
      for (std::size_t b = 0; b < bytes; ++b) data[b] = value_of(team.rank(), m, b, exchange);
      messages->send(m);
    }
    std::vector<std::size_t> arrived;
    for (waiter wait(team, "posted messages"); !messages->is_done(); wait.pause())
      messages->poll(arrived);
    ASSERT_EQ(arrived.size(), 2u);
    for (std::size_t m = 0; m < 2; ++m) {
      const std::byte* const data =
          m == 0 && receives_in_place ? received.data() : messages->incoming(m);
      for (std::size_t b = 0; b < bytes; ++b)
        ASSERT_EQ(data[b], value_of(before, m, b, exchange)) << "message " << m << ", byte " << b;
    }
    // Receives that were prepared are also right, and are given back if they get no message.
    if (exchange % 2 == 1) messages->prepare_next();
  }
  team.barrier();
}

TEST(RequestMessages, arrive_whole_in_pieces_of_any_size_in_place_and_in_buffers) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi" || team.size() < 2) return;
    for (const std::size_t piece_bytes : {8, 24, 40, 96, 1000})
      for (const bool sends_in_place : {false, true})
        for (const bool receives_in_place : {false, true})
          exchange_in_ring(team, 96, piece_bytes, sends_in_place, receives_in_place);
    exchange_in_ring(team, 300000, mpi::whole_messages, true, false);
    exchange_in_ring(team, 0, 1000, false, false);
  });
}

// The ranks form a ring, and each rank in turn is late. Its two neighbours have received their other
// message, and must report the late rank.
TEST(RequestMessages, the_late_neighbour_is_awaited) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi" || team.size() < 3) return;
    const int next = (team.rank() + 1) % team.size(),
              before = (team.rank() + team.size() - 1) % team.size();
    const std::vector<posted_end> ends{{before, 8}, {next, 8}};
    const auto messages = mpi::make_request_messages(team, ends, ends);
    const auto start = [&] {
      messages->start();
      for (std::size_t i = 0; i < 2; ++i) messages->send(i);
    };
    for (int late = 0; late < team.size(); ++late) {
      std::vector<std::size_t> arrived;
      if (team.rank() != late) start();
      if (next == late || before == late) {
        for (waiter wait(team, "the neighbour that is in time"); arrived.empty(); wait.pause())
          messages->poll(arrived);
        EXPECT_EQ(arrived.size(), 1u);
        EXPECT_EQ(messages->awaited_peer(), late);
      }
      team.barrier();
      if (team.rank() == late) start();
      for (waiter wait(team, "all neighbours"); !messages->is_done(); wait.pause())
        messages->poll(arrived);
      team.barrier();
    }
  });
}

}  // namespace
}  // namespace longshore
