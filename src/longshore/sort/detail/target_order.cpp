// Computes the sequence of targets for each exchange order.
#include <longshore/core/random.hpp>
#include <longshore/sort/detail/exchanges.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace longshore::detail {
namespace {

std::vector<int> shuffled(std::vector<int> ranks, random_stream random) {
  shuffle(std::span(ranks), random);
  return ranks;
}

// The other ranks of the ring, beginning after `rank`.
std::vector<int> others_along(const std::vector<int>& ring, int rank) {
  const auto position =
      static_cast<std::size_t>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
  std::vector<int> targets;
  for (std::size_t step = 1; step < ring.size(); ++step)
    targets.push_back(ring[(position + step) % ring.size()]);
  return targets;
}

std::vector<int> node_by_node(int rank, const node_map& nodes) {
  std::vector<int> targets;
  for (int step = 1; step <= nodes.node_count(); ++step) {
    const auto node_ranks = nodes.ranks_of((nodes.node_of(rank) + step) % nodes.node_count());
    for (std::size_t k = 0; k < node_ranks.size(); ++k) {
      const int target =
          node_ranks[(static_cast<std::size_t>(nodes.local_index(rank)) + k) % node_ranks.size()];
      if (target != rank) targets.push_back(target);
    }
  }
  return targets;
}

}  // namespace

std::vector<int> targets_of(exchange_order order, int rank, int ranks, const node_map& nodes,
                            std::uint64_t seed) {
  std::vector<int> sequence(static_cast<std::size_t>(ranks)), targets;
  std::iota(sequence.begin(), sequence.end(), 0);
  switch (order) {
    case exchange_order::round_robin: return others_along(sequence, rank);
    case exchange_order::random: return others_along(shuffled(sequence, random_stream(seed)), rank);
    case exchange_order::node_aware: return node_by_node(rank, nodes);
    case exchange_order::random_private:
      sequence =
          shuffled(std::move(sequence), random_stream(seed, static_cast<std::uint64_t>(rank) + 1));
      break;
    case exchange_order::xor_:
      sequence.clear();
      for (int step = 1; step < static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks)));
           ++step)
        if ((rank ^ step) < ranks) sequence.push_back(rank ^ step);
      break;
    case exchange_order::incast: break;
  }
  std::copy_if(sequence.begin(), sequence.end(), std::back_inserter(targets),
               [=](int target) { return target != rank; });
  return targets;
}

}  // namespace longshore::detail
