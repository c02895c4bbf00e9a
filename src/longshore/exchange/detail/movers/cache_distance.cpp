// Sends a cache line back and forth between two ranks, and compares the shortest round trip with a
// limit.
#include <longshore/exchange/detail/movers/cache_distance.hpp>

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace longshore::detail {
namespace {

constexpr std::uint64_t round_trips = 10;
// On AMD EPYC a round trip takes 100 to 130 ns between near caches, and 350 to 460 ns between far
// ones.
constexpr double far_round_trip_seconds = 220e-9;

// The values of a probe. The lower rank sends the numbers of trips, and then its verdict. The other
// rank answers each trip by its number, or tells that it does not spin.
enum : std::uint64_t { near_verdict = round_trips + 1, far_verdict, does_not_spin };

std::uint64_t await(team& ranks, const std::atomic<std::uint64_t>& probe, std::uint64_t before,
                    int peer) {
  for (waiter wait(ranks, "a neighbour to measure the distance of caches", peer);; wait.pause()) {
    before_polls(ranks);
    if (const auto value = probe.load(std::memory_order_acquire); value > before) return value;
  }
}

std::uint64_t measured(team& ranks, int peer, direct_signals& from_peer, direct_signals& to_peer) {
  if (!ranks.waiting().spin) return near_verdict;
  double shortest = std::numeric_limits<double>::infinity();
  for (std::uint64_t trip = 1; trip <= round_trips; ++trip) {
    const double began = ranks.now();
    signal(ranks, to_peer.probe, trip, peer);
    if (await(ranks, from_peer.probe, trip - 1, peer) == does_not_spin) return near_verdict;
    if (trip > 1) shortest = std::min(shortest, ranks.now() - began);
  }
  return shortest > far_round_trip_seconds ? far_verdict : near_verdict;
}

}  // namespace

std::optional<bool> caches_by_environment() {
  const auto given = environment_text("LONGSHORE_CACHES");
  if (!given) return std::nullopt;
  if (*given != "near" && *given != "far")
    fail(errc::usage, "LONGSHORE_CACHES is '{}': it must be near or far, or not set", *given);
  return *given == "far";
}

bool are_caches_far(team& ranks, int peer, direct_signals& from_peer, direct_signals& to_peer,
                    std::optional<bool> given) {
  std::uint64_t verdict = 0;
  if (ranks.rank() < peer) {
    verdict = !given   ? measured(ranks, peer, from_peer, to_peer)
              : *given ? far_verdict
                       : near_verdict;
    signal(ranks, to_peer.probe, verdict, peer);
  } else {
    while ((verdict = await(ranks, from_peer.probe, verdict, peer)) <= round_trips)
      signal(ranks, to_peer.probe, ranks.waiting().spin ? verdict : does_not_spin, peer);
  }
  return verdict == far_verdict;
}

}  // namespace longshore::detail
