// What every engine promises, on every route: each item once, in order per pair, to the right rank, from the right rank, to the end.
#include <longshore/aggregate/aggregator.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/aggregate/exstack2.hpp>
#include <longshore/aggregate/exstack_engine.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace longshore {
namespace {

using testing::spmd;

struct item {
  std::int32_t from, to;
  std::int64_t number;  // counts up per pair
  friend bool operator==(const item&, const item&) = default;
};
static_assert(item_engine<exstack_engine, item> && item_engine<exstack2, item> && item_engine<conveyor, item> &&
              item_engine<aggregator, item>);

// Calls body(engine, name) with an engine of every kind and route.
template <class Body>
void with_every_engine(team& team, engine_options options, Body&& body) {
  {
    exstack_engine engine(team, options);
    body(engine, "exstack");
  }
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
      body(engine, fmt::format("conveyor of {} hops in groups of {}", hops, group_ranks));
    }
  aggregator engine(team, options);
  body(engine, "aggregator");
}

// How many items each rank has for which: all know it, so that a receiver knows what must come.
using load = std::function<std::size_t(int from, int to, int size)>;
struct named_load {
  const char* name;
  load count;
};
const std::vector<named_load> loads = {
    {"nothing", [](int, int, int) { return 0; }},
    {"only to itself", [](int from, int to, int) { return from == to ? 57 : 0; }},
    {"all to the last", [](int, int to, int size) { return to == size - 1 ? 101 : 0; }},
    {"one to all", [](int from, int, int) { return from == 0 ? 43 : 0; }},
    {"uneven", [](int from, int to, int) { return static_cast<std::size_t>((from * 7 + to * 13) % 50); }},
    {"skewed", [](int from, int to, int size) { return std::size_t{1} << ((from + to) % size + 2); }},
};

// Destinations of this rank's items, mixed at random.
std::vector<int> destinations(const team& team, const load& count, std::uint64_t seed) {
  std::vector<int> to;
  for (int peer = 0; peer < team.size(); ++peer) to.insert(to.end(), count(team.rank(), peer, team.size()), peer);
  random_stream random(seed, static_cast<std::uint64_t>(team.rank()));
  shuffle(std::span(to), random);
  return to;
}

// One use of an engine with what all ranks expect of it. Returns how many items came.
template <class Engine>
std::size_t deliver_and_check(team& team, Engine& engine, const named_load& given, std::uint64_t seed, bool source_known) {
  const auto to = destinations(team, given.count, seed);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(team.size()));
  std::vector<item> items;
  for (const int rank : to) items.push_back({team.rank(), rank, numbers[rank]++});
  std::vector<std::int64_t> came(numbers.size());
  std::size_t wrong = 0;
  deliver<item>(
      engine, items.size(),
      [&](std::size_t i) {
        return addressed<item>{to[i], items[i]};
      },
      [&](int source, const item& one) {
        const bool right = one.to == team.rank() && one.from >= 0 && one.from < team.size() && one.number == came[one.from] &&
                           source == (source_known ? one.from : -1);
        if (!right && wrong++ == 0)
          ADD_FAILURE() << "rank " << team.rank() << " got item " << one.number << " from " << one.from << " (said to be from "
                        << source << ") for " << one.to;
        if (one.from >= 0 && one.from < team.size()) ++came[one.from];
      });
  std::size_t sum = 0;
  for (int peer = 0; peer < team.size(); ++peer) {
    EXPECT_EQ(static_cast<std::size_t>(came[peer]), given.count(peer, team.rank(), team.size())) << "from rank " << peer;
    sum += static_cast<std::size_t>(came[peer]);
  }
  return sum;
}

TEST(Engines, deliver_every_item_once_and_in_order_and_may_be_used_again) {
  spmd([](team& team) {
    std::int64_t moved = 0;
    for (const std::size_t buffer_items : {1, 5})
      for (const bool with_source : {false, true})
        with_every_engine(team, {.item_bytes = sizeof(item), .buffer_items = buffer_items, .with_source = with_source},
                          [&](auto& engine, const std::string& name) {
                            const bool known =
                                with_source || name == "exstack" || name == "exstack2" || name.find(" 1 hops") != name.npos;
                            for (const auto& given : loads) {
                              SCOPED_TRACE(name + ", " + given.name);
                              moved += static_cast<std::int64_t>(deliver_and_check(team, engine, given, buffer_items, known));
                            }
                          });
    EXPECT_GT(team.allreduce_value(moved, reduction::sum), 1000);
  });
}

}  // namespace
}  // namespace longshore
