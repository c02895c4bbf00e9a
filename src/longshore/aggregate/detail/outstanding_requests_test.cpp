// Outstanding requests, with rings and with lists, against a queue per rank.
#include <longshore/aggregate/detail/outstanding_requests.hpp>
#include <longshore/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

namespace longshore::detail {
namespace {

TEST(OutstandingRequests, of_a_rank_leave_in_the_order_of_their_arrival) {
  for (const int ranks : {1, 5, outstanding_requests::max_rings, 3000}) {
    constexpr std::size_t window = 256;
    outstanding_requests requests(ranks, window);
    EXPECT_EQ(requests.has_rings(), ranks <= outstanding_requests::max_rings);
    std::vector<std::deque<std::uint32_t>> expected(static_cast<std::size_t>(ranks));
    random_stream random(1, static_cast<std::uint64_t>(ranks));
    std::uint32_t number = 0;
    std::size_t outstanding = 0, most = 0;
    const auto random_rank = [&] {  // half of the requests go to rank 0
      return random.below(2) == 0 ? 0 : static_cast<int>(random.below(std::uint64_t(ranks)));
    };
    for (int round = 0; round < 20000; ++round) {
      const bool adds = random.below(100) < (round / 1000 % 2 == 0 ? 70u : 30u);
      const int rank = random_rank();
      auto& of_rank = expected[static_cast<std::size_t>(rank)];
      if (adds && outstanding < window && requests.has_room(rank)) {
        requests.add(rank, number);
        of_rank.push_back(number++);
        most = std::max(most, ++outstanding);
      } else if (!adds && !of_rank.empty()) {
        ASSERT_EQ(requests.take_oldest(rank), of_rank.front()) << "ranks " << ranks;
        of_rank.pop_front();
        --outstanding;
      }
    }
    EXPECT_GT(most, window / 4);
  }
}

TEST(OutstandingRequests, fill_the_window_with_one_of_many_ranks) {
  constexpr std::size_t window = 4096;
  outstanding_requests requests(9216, window);
  for (std::uint32_t i = 0; i < window; ++i) {
    ASSERT_TRUE(requests.has_room(77));
    requests.add(77, i);
  }
  for (std::uint32_t i = 0; i < window; ++i) ASSERT_EQ(requests.take_oldest(77), i);
}

}  // namespace
}  // namespace longshore::detail
