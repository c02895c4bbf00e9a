// Chooses for exchange auto: times each possible strategy with blocks of a given size, and keeps
// the choice for the team. exchange_driver calls it.
#include <longshore/core/environment.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/choose_exchange.hpp>
#include <longshore/transport/team_attribute.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace longshore::detail {
namespace {

// The largest sum of the blocks that a rank sends in a measurement.
constexpr std::size_t max_bytes_per_rank = std::size_t{16} << 20;
constexpr int warmups = 1, trials = 3;

struct kept_choices {
  // The key is the bit width of block_bytes, rounded up to a power of two, and `deterministic`.
  std::map<std::pair<int, bool>, exchange_strategy> by_size;
  // Whether LONGSHORE_PROFILE is off on rank 0: launchers do not pass every variable to all ranks.
  std::optional<bool> is_off;
};

// The seconds of the slowest rank, minimum over the trials. The time includes storing the blocks,
// because the exchange direct stores blocks and does not send them.
double measure_seconds(team& team, exchange_strategy strategy, std::size_t block_bytes,
                       std::vector<std::byte>& from, std::vector<std::byte>& bucketed) {
  const auto ranks = static_cast<std::size_t>(team.size());
  block_counts counts(team.size());
  counts.outgoing.assign(ranks, block_bytes);
  counts.incoming = counts.outgoing;
  counts.received = counts.max_received = ranks * block_bytes;
  counts.max_block = block_bytes;
  const auto candidate = make_block_exchange(team, {.strategy = strategy}, 1);
  double min_seconds = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < warmups + trials; ++trial) {
    team.barrier();
    const double begin = team.now();
    candidate->prepare(counts);
    const auto direct = candidate->direct_destinations();
    for (std::size_t target = 0; target < ranks; ++target) {
      std::byte* const destination = direct.empty() ? nullptr : direct[target];
      std::memcpy(destination != nullptr ? destination : bucketed.data() + target * block_bytes,
                  from.data() + target * block_bytes, block_bytes);
    }
    candidate->run(bucketed.data(), nullptr);
    const double seconds = team.allreduce_value(team.now() - begin, reduction::max);
    if (trial >= warmups) min_seconds = std::min(min_seconds, seconds);
  }
  return min_seconds;
}

}  // namespace

exchange_strategy choose_exchange(team& team, std::size_t block_bytes, bool deterministic) {
  const auto layout = exchange_layout_of(team);
  if (layout.nodes == 1) return exchange_strategy::direct;
  auto& [by_size, is_off] = team_attribute<kept_choices>(team);
  if (!is_off) is_off = team.broadcast_value(environment_text("LONGSHORE_PROFILE") == "off");
  if (*is_off) return exchange_strategy::direct;
  const int size_class =
      static_cast<int>(std::bit_width(std::bit_ceil(std::max<std::size_t>(block_bytes, 1))));
  if (const auto known = by_size.find({size_class, deterministic}); known != by_size.end())
    return known->second;

  const std::size_t bytes = std::clamp<std::size_t>(
      std::bit_ceil(std::max<std::size_t>(block_bytes, 1)), 1,
      std::max<std::size_t>(1, max_bytes_per_rank / static_cast<std::size_t>(team.size())));
  std::vector<std::byte> from(bytes * static_cast<std::size_t>(team.size()), std::byte{1}),
      bucketed(from.size(), std::byte{2});
  exchange_strategy best = exchange_strategy::direct;
  double best_seconds = std::numeric_limits<double>::infinity();
  for (const auto candidate :
       {exchange_strategy::direct, exchange_strategy::put, exchange_strategy::sendrecv,
        exchange_strategy::channel, exchange_strategy::alltoallv, exchange_strategy::two_hop}) {
    if (why_not(candidate, exchange_order::round_robin, layout) ||
        (deterministic && !is_deterministic(candidate)))
      continue;
    const double seconds = measure_seconds(team, candidate, bytes, from, bucketed);
    if (seconds >= best_seconds) continue;
    best_seconds = seconds;
    best = candidate;
  }
  by_size[{size_class, deterministic}] = best;
  return best;
}

}  // namespace longshore::detail
