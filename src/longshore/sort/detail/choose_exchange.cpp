// Makes the choice of exchange auto for exchange_driver. Times each possible strategy with blocks
// of a given size, and keeps the choice for the team.
#include <longshore/core/environment.hpp>
#include <longshore/sort/detail/exchange_driver.hpp>
#include <longshore/transport/detail/fastest_by_turns.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace longshore::detail {
namespace {

// The largest sum of the blocks that a rank sends in a measurement.
constexpr std::size_t max_bytes_per_rank = std::size_t{16} << 20;
constexpr double more_seconds = 0.4;  // for further turns of the fastest exchanges

struct kept_choices {
  // The key is the bit width of block_bytes, rounded up to a power of two, and `deterministic`.
  std::map<std::pair<int, bool>, exchange_strategy> by_size;
  // Whether LONGSHORE_PROFILE is off on rank 0. Launchers do not pass every variable to all ranks.
  std::optional<bool> is_off;
};

// A candidate of the measurement, with memory of its own for the items that it receives.
struct candidate {
  exchange_strategy strategy;
  std::unique_ptr<block_exchange> exchange;
};

// Stores and exchanges the blocks `from`. Storing counts, because the exchange direct stores blocks
// and does not send them.
void exchange_blocks(block_exchange& exchange, const block_counts& counts,
                     const std::vector<std::byte>& from, std::vector<std::byte>& bucketed) {
  exchange.prepare(counts);
  const auto direct = exchange.direct_destinations();
  for (std::size_t target = 0; target < counts.outgoing.size(); ++target) {
    const std::size_t position = target * counts.max_block;
    std::byte* const destination = direct.empty() ? nullptr : direct[target];
    std::memcpy(destination != nullptr ? destination : bucketed.data() + position,
                from.data() + position, counts.max_block);
  }
  exchange.run(bucketed.data(), {});
}

}  // namespace

exchange_strategy choose_exchange(team& team, std::size_t block_bytes, bool deterministic) {
  const auto layout = exchange_layout_of(team);
  if (layout.nodes == 1) return exchange_strategy::direct;
  auto& [by_size, is_off] = team.attribute<kept_choices>();
  if (!is_off) is_off = team.broadcast_value(environment_text("LONGSHORE_PROFILE") == "off");
  if (*is_off) return exchange_strategy::direct;
  const int size_class =
      static_cast<int>(std::bit_width(std::bit_ceil(std::max<std::size_t>(block_bytes, 1))));
  if (const auto known = by_size.find({size_class, deterministic}); known != by_size.end())
    return known->second;

  const std::size_t bytes = std::clamp<std::size_t>(
      std::bit_ceil(std::max<std::size_t>(block_bytes, 1)), 1,
      std::max<std::size_t>(1, max_bytes_per_rank / static_cast<std::size_t>(team.size())));
  const auto ranks = static_cast<std::size_t>(team.size());
  std::vector<std::byte> from(bytes * ranks, std::byte{1}), bucketed(from.size(), std::byte{2});
  block_counts counts(team.size());
  counts.outgoing.assign(ranks, bytes);
  counts.incoming = counts.outgoing;
  counts.received = counts.max_received = from.size();
  counts.max_block = bytes;
  std::vector<candidate> candidates;
  for (const auto strategy :
       {exchange_strategy::direct, exchange_strategy::put, exchange_strategy::sendrecv,
        exchange_strategy::channel, exchange_strategy::alltoallv, exchange_strategy::two_hop}) {
    if (why_not(strategy, exchange_order::round_robin, layout) ||
        (deterministic && !is_deterministic(strategy)))
      continue;
    candidates.push_back({strategy, make_block_exchange(team, {.strategy = strategy}, 1)});
    // The first exchange is not timed.
    exchange_blocks(*candidates.back().exchange, counts, from, bucketed);
  }
  const auto run = [&](std::size_t i) {
    exchange_blocks(*candidates[i].exchange, counts, from, bucketed);
  };
  const std::size_t fastest =
      fastest_by_turns(team, candidates.size(), run, {.more_seconds = more_seconds});
  return by_size[{size_class, deterministic}] = candidates[fastest].strategy;
}

}  // namespace longshore::detail
