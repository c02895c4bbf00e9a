// What tests of engines share: an item that says where it comes from, and every kind of engine on every kind of route.
#pragma once

#include <longshore/aggregate/aggregator.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/aggregate/exstack2.hpp>
#include <longshore/aggregate/exstack_engine.hpp>

#include <cstdint>
#include <string>

namespace longshore::testing {

struct item {
  std::int32_t from, to;
  std::int64_t number;  // counts up per pair
  friend bool operator==(const item&, const item&) = default;
};
static_assert(item_engine<exstack_engine, item> && item_engine<exstack2, item> && item_engine<conveyor, item> &&
              item_engine<aggregator, item>);

/// Calls body(engine, name) with an engine of every asynchronous kind and route.
template <class Body>
void with_every_conveyor(team& team, engine_options options, Body&& body) {
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
      body(engine, "conveyor of " + std::to_string(hops) + " hops in groups of " + std::to_string(group_ranks));
    }
  aggregator engine(team, options);
  body(engine, "aggregator");
}

/// The same, and exstack.
template <class Body>
void with_every_engine(team& team, const engine_options& options, Body&& body) {
  {
    exstack_engine engine(team, options);
    body(engine, "exstack");
  }
  with_every_conveyor(team, options, body);
}

}  // namespace longshore::testing
