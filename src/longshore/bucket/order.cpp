#include <longshore/bucket/order.hpp>
#include <longshore/core/random.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace longshore::bucketing {

std::vector<int> targets_of(exchange_order order, int rank, int ranks, std::uint64_t seed) {
  std::vector<int> ring(static_cast<std::size_t>(ranks));  // round r: the r-th behind the own place
  std::iota(ring.begin(), ring.end(), 0);
  if (order == exchange_order::random) {
    random_stream random(seed);
    shuffle(std::span(ring), random);
  }
  const auto place = static_cast<int>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
  std::vector<int> targets;
  switch (order) {
    case exchange_order::round_robin:
    case exchange_order::random:
      for (int round = 1; round < ranks; ++round) targets.push_back(ring[(place + round) % ranks]);
      break;
    case exchange_order::xor_:
      for (int round = 1; round < static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))); ++round)
        if ((rank ^ round) < ranks) targets.push_back(rank ^ round);
      break;
    case exchange_order::incast:
      for (int target = 0; target < ranks; ++target)
        if (target != rank) targets.push_back(target);
      break;
  }
  return targets;
}

}  // namespace longshore::bucketing
