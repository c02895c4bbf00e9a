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

constexpr std::size_t most_bytes_of_rank = std::size_t{16} << 20;
constexpr int warmups = 1, turns = 3;

struct kept_choices {
  std::map<std::pair<int, bool>, exchange_strategy>
      // by the bits of what block_bytes is rounded to, and whether deterministic
      of_class;
  std::optional<bool> off;  // as rank 0 was told: launchers do not hand on all of the environment
};

// Seconds of the slowest rank, at best: with the storing of the blocks, which direct has instead of
// an exchange.
double time_of(team& team, exchange_strategy strategy, std::size_t block_bytes,
               std::vector<std::byte>& from, std::vector<std::byte>& bucketed) {
  const auto ranks = static_cast<std::size_t>(team.size());
  block_counts counts(team.size());
  counts.outgoing.assign(ranks, block_bytes);
  counts.incoming = counts.outgoing;
  counts.received = counts.most_received = ranks * block_bytes;
  const auto candidate = make_block_exchange(team, {.strategy = strategy}, 1);
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < warmups + turns; ++turn) {
    team.barrier();
    const double begin = team.now();
    candidate->prepare(counts);
    const auto places = candidate->places();
    for (std::size_t target = 0; target < ranks; ++target) {
      std::byte* const place = places.empty() ? nullptr : places[target];
      std::memcpy(place != nullptr ? place : bucketed.data() + target * block_bytes,
                  from.data() + target * block_bytes, block_bytes);
    }
    candidate->run(bucketed.data(), nullptr);
    const double seconds = team.allreduce_value(team.now() - begin, reduction::max);
    if (turn >= warmups) best = std::min(best, seconds);
  }
  return best;
}

}  // namespace

exchange_strategy choose_exchange(team& team, std::size_t block_bytes, bool deterministic) {
  const auto layout = exchange_layout_of(team);
  if (layout.nodes == 1) return exchange_strategy::direct;
  auto& [kept, off] = team_attribute<kept_choices>(team);
  if (!off) off = team.broadcast_value(environment_text("LONGSHORE_PROFILE") == "off");
  if (*off) return exchange_strategy::direct;
  const int size_class =
      static_cast<int>(std::bit_width(std::bit_ceil(std::max<std::size_t>(block_bytes, 1))));
  if (const auto known = kept.find({size_class, deterministic}); known != kept.end())
    return known->second;

  const std::size_t bytes = std::clamp<std::size_t>(
      std::bit_ceil(std::max<std::size_t>(block_bytes, 1)), 1,
      std::max<std::size_t>(1, most_bytes_of_rank / static_cast<std::size_t>(team.size())));
  std::vector<std::byte> from(bytes * static_cast<std::size_t>(team.size()), std::byte{1}),
      bucketed(from.size(), std::byte{2});
  exchange_strategy best = exchange_strategy::direct;
  double least = std::numeric_limits<double>::infinity();
  for (const auto candidate :
       {exchange_strategy::direct, exchange_strategy::put, exchange_strategy::sendrecv,
        exchange_strategy::channel, exchange_strategy::alltoallv, exchange_strategy::two_hop}) {
    if (why_not(candidate, exchange_order::round_robin, layout) ||
        (deterministic && !is_deterministic(candidate)))
      continue;
    const double seconds = time_of(team, candidate, bytes, from, bucketed);
    if (seconds >= least) continue;
    least = seconds;
    best = candidate;
  }
  kept[{size_class, deterministic}] = best;
  return best;
}

}  // namespace longshore::detail
