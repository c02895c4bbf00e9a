// Shared by the tests of engines: an item that names its source, traffic patterns between ranks,
// and loops over every kind of engine and route.
#pragma once

#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/core/random.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace longshore::testing {

struct item {
  std::int32_t from, to;
  std::int64_t number;  // counts the items of one pair of ranks
  friend bool operator==(const item&, const item&) = default;
};
static_assert(item_engine<exstack2, item> && item_engine<conveyor, item> &&
              item_engine<aggregator, item>);

/// How many items each rank sends to each rank. All ranks know the pattern, so a receiver knows
/// which items to expect.
struct traffic_pattern {
  const char* name;
  std::function<std::size_t(int from, int to, int size)> count;
};
/// Whether a pattern of pairs has items from `from` to `to`: of all pairs on up to 8 ranks, and of 8
/// ranks for each rank on more, so that the traffic does not grow with the square of the ranks.
inline bool are_partners(int from, int to, int size) { return (from * 7 + to * 13) % size < 8; }

inline const std::vector<traffic_pattern>& traffic_patterns() {
  static const std::vector<traffic_pattern> patterns = {
      {"nothing", [](int, int, int) { return 0; }},
      {"only to itself", [](int from, int to, int) { return from == to ? 57 : 0; }},
      {"all to the last", [](int, int to, int size) { return to == size - 1 ? 101 : 0; }},
      {"one to all", [](int from, int, int) { return from == 0 ? 43 : 0; }},
      {"uneven",
       [](int from, int to, int size) {
         const int items = are_partners(from, to, size) ? (from * 7 + to * 13) % 50 : 0;
         return static_cast<std::size_t>(items);
       }},
      {"skewed",
       [](int from, int to, int size) {
         if (!are_partners(from, to, size)) return std::size_t{0};
         return std::size_t{1} << ((from + to) % std::min(size, 8) + 2);
       }},
  };
  return patterns;
}

/// The destinations of this rank's items, in random order.
inline std::vector<int> destinations(const team& team, const traffic_pattern& pattern,
                                     std::uint64_t seed) {
  std::vector<int> to;
  for (int peer = 0; peer < team.size(); ++peer)
    to.insert(to.end(), pattern.count(team.rank(), peer, team.size()), peer);
  random_stream random(seed, static_cast<std::uint64_t>(team.rank()));
  shuffle(std::span(to), random);
  return to;
}

/// Calls body(engine, name) with each kind of engine and each route.
template <class Body>
void with_every_engine(team& team, engine_options options, Body&& body) {
  {
    exstack2 engine(team, options);
    body(engine, "exstack2");
  }
  for (const int group_ranks : {0, 1, 2, 3})
    for (const int hops : {1, 2, 3}) {
      if (hops == 1 && group_ranks > 0) continue;
      options.hops = hops;
      options.group_ranks = group_ranks;
      conveyor engine(team, options);
      body(engine, "conveyor of " + std::to_string(hops) + " hops in groups of " +
                       std::to_string(group_ranks));
    }
  {
    aggregator engine(team, options);
    body(engine, "aggregator");
  }
  options.hops = 3;
  options.one_stream = true;
  conveyor engine(team, options);  // as an aggregator on more ranks
  body(engine, "conveyor of one stream per pair of nodes");
}

}  // namespace longshore::testing
