// The contract of every engine on every route: each item arrives once, in order per pair, at the
// right rank and with the right source, and every use ends.
#include <longshore/aggregate/engine_test.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::destinations;
using testing::item;
using testing::spmd;
using testing::traffic_pattern;
using testing::traffic_patterns;
using testing::with_every_engine;

// One epoch of an engine. Checks which items arrive, and returns their number.
template <class Engine>
std::size_t deliver_and_check(team& team, Engine& engine, const traffic_pattern& pattern,
                              std::uint64_t seed, bool source_known) {
  const auto to = destinations(team, pattern, seed);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(team.size()));
  std::vector<item> items;
  for (const int rank : to) items.push_back({team.rank(), rank, numbers[rank]++});
  std::vector<std::int64_t> arrived(numbers.size());
  std::size_t wrong = 0;
  deliver<item>(
      engine, items.size(),
      [&](std::size_t i) {
        return addressed<item>{to[i], items[i]};
      },
      [&](int source, const item& got) {
        const bool right = got.to == team.rank() && got.from >= 0 && got.from < team.size() &&
                           got.number == arrived[got.from] &&
                           source == (source_known ? got.from : -1);
        if (!right && wrong++ == 0)
          ADD_FAILURE() << "rank " << team.rank() << " got item " << got.number << " from "
                        << got.from << " (reported source " << source << ") for " << got.to;
        if (got.from >= 0 && got.from < team.size()) ++arrived[got.from];
      });
  std::size_t items_arrived = 0;
  for (int peer = 0; peer < team.size(); ++peer) {
    EXPECT_EQ(static_cast<std::size_t>(arrived[peer]),
              pattern.count(peer, team.rank(), team.size()))
        << "from rank " << peer;
    items_arrived += static_cast<std::size_t>(arrived[peer]);
  }
  return items_arrived;
}

// Whether the engine knows the source of an item without option with_source.
bool has_one_hop(const team& team, const std::string& name) {
  return name == "exstack2" || name.find(" 1 hops") != name.npos ||
         (name == "aggregator" && aggregator::hops_on(team.nodes()) == 1);
}

TEST(Engines, deliver_every_item_once_and_in_order_in_every_epoch) {
  spmd([](team& team) {
    std::int64_t moved = 0;
    for (const bool with_source : {false, true})
      with_every_engine(team,
                        {.item_bytes = sizeof(item),
                         .buffer_items = with_source ? 5u : 1u,
                         .with_source = with_source},
                        [&](auto& engine, const std::string& name) {
                          const bool known = with_source || has_one_hop(team, name);
                          for (const auto& pattern : traffic_patterns()) {
                            SCOPED_TRACE(name + ", " + pattern.name);
                            moved += static_cast<std::int64_t>(
                                deliver_and_check(team, engine, pattern, 1 + with_source, known));
                          }
                        });
    EXPECT_GT(team.allreduce_value(moved, reduction::sum), 1000);
  });
}

// Loops write many items at once where all buffers have room, and one by one elsewhere.
TEST(Engines, deliver_every_item_once_and_in_order_with_large_buffers) {
  spmd([](team& team) {
    const std::vector<traffic_pattern> patterns = {
        {"even", [](int from, int to,
                    int size) { return testing::are_partners(from, to, size) ? 900 : 0; }},
        {"to itself and the last",
         [](int from, int to, int size) { return from == to || to == size - 1 ? 700 : 3; }}};
    std::int64_t moved = 0;
    for (const bool with_source : {false, true})
      with_every_engine(
          team, {.item_bytes = sizeof(item), .buffer_items = 150, .with_source = with_source},
          [&](auto& engine, const std::string& name) {
            const bool known = with_source || has_one_hop(team, name);
            for (const auto& pattern : patterns) {
              SCOPED_TRACE(name + ", " + pattern.name);
              moved += static_cast<std::int64_t>(
                  deliver_and_check(team, engine, pattern, 3 + with_source, known));
            }
          });
    EXPECT_GT(team.allreduce_value(moved, reduction::sum), 10000);
  });
}

// Items that create items are the nodes of random trees, which each rank can also walk alone.
struct seedling {
  std::uint64_t name;
  std::int64_t depth;
};
template <class Visit>
void for_each_child(const seedling& parent, Visit&& visit) {
  if (parent.depth == 0) return;
  const std::uint64_t children = mix_bits(parent.name) % 4;  // 0 to 3
  for (std::uint64_t k = 0; k < children; ++k)
    visit(seedling{mix_bits(parent.name * 5 + k + 1), parent.depth - 1});
}
struct census {
  std::int64_t count = 0, sum = 0;
  void add(const seedling& node) {
    ++count;
    sum += static_cast<std::int64_t>(node.name >> 20);
  }
  friend bool operator==(const census&, const census&) = default;
};
void count_tree(const seedling& root, census& tree) {
  tree.add(root);
  for_each_child(root, [&](const seedling& child) { count_tree(child, tree); });
}

TEST(Engines, end_once_all_created_items_were_delivered) {
  spmd([](team& team) {
    const auto rank_of = [&](const seedling& node) {
      return static_cast<int>(node.name % static_cast<std::uint64_t>(team.size()));
    };
    const auto root = [](int rank, std::size_t i) {
      return seedling{mix_bits(static_cast<std::uint64_t>(rank) * 1000 + i), 9};
    };
    with_every_engine(
        team, {.item_bytes = sizeof(seedling), .buffer_items = 3, .items_create_items = true},
        [&](auto& engine, const std::string& name) {
          // In epoch 1 only rank 0 has roots, in epoch 2 no rank has roots.
          for (const int epoch : {0, 1, 2}) {
            const auto roots_of = [&](int rank) {
              return epoch == 2 || (epoch == 1 && rank > 0) ? std::size_t{0} : std::size_t{6};
            };
            census expected, arrived;
            for (int rank = 0; rank < team.size(); ++rank)
              for (std::size_t i = 0; i < roots_of(rank); ++i) count_tree(root(rank, i), expected);
            deliver_recursive<seedling>(
                engine, roots_of(team.rank()),
                [&](std::size_t i) {
                  return addressed<seedling>{rank_of(root(team.rank(), i)), root(team.rank(), i)};
                },
                [&](int, const seedling& node, const auto& emit) {
                  arrived.add(node);
                  for_each_child(node, [&](const seedling& child) { emit(rank_of(child), child); });
                });
            // A rank that ended too early would miss items.
            const census of_all_ranks{team.allreduce_value(arrived.count, reduction::sum),
                                      team.allreduce_value(arrived.sum, reduction::sum)};
            EXPECT_EQ(of_all_ranks, expected) << name << ", epoch " << epoch << ": "
                                              << of_all_ranks.count << " of " << expected.count;
            EXPECT_TRUE(epoch == 2 || expected.count > 50);
          }
        });
  });
}

TEST(Engines, an_item_that_is_not_taken_is_offered_again_and_not_overtaken) {
  spmd([](team& team) {
    with_every_engine(
        team, {.item_bytes = sizeof(item), .buffer_items = 16, .with_source = true},
        [&](auto& engine, const std::string& name) {
          std::vector<std::int64_t> arrived(static_cast<std::size_t>(team.size()));
          const std::size_t per_pair = 50;
          random_stream random(5, static_cast<std::uint64_t>(team.rank()));
          std::size_t refused = 0, wrong = 0, i = 0;
          const std::size_t n = per_pair * arrived.size();
          const auto take = [&](int source, const item& got) {
            if (random.below(3) == 0) return ++refused, false;
            wrong += got.from != source || got.to != team.rank() || got.number != arrived[source]++;
            return true;
          };
          for (bool more = true; more;) {
            for (; i < n; ++i) {
              const int to = static_cast<int>(i % arrived.size());
              if (!engine.push(
                      to, item{team.rank(), to, static_cast<std::int64_t>(i / arrived.size())}))
                break;
            }
            more = engine.advance(i == n);
            engine.template drain<item>(take);
            team.progress();
          }
          EXPECT_EQ(wrong, 0u) << name;
          EXPECT_GT(refused, 0u);
          for (const auto count : arrived)
            EXPECT_EQ(static_cast<std::size_t>(count), per_pair) << name;
        });
  });
}

TEST(Engines, count_messages_and_time_some_items) {
  spmd([](team& team) {
    testing::with_every_engine(
        team, {.item_bytes = sizeof(item), .buffer_items = 8, .buffers_per_timed_item = 1},
        [&](auto& engine, const std::string& name) {
          const std::size_t n = 800;
          std::int64_t arrived = 0;
          deliver<item>(
              engine, n,
              [&](std::size_t i) {
                const int to = static_cast<int>(i) % team.size();
                return addressed<item>{to, {team.rank(), to, 0}};
              },
              [&](int, const item&) { ++arrived; });
          const std::size_t size = static_cast<std::size_t>(team.size());
          // items from each rank
          const std::size_t for_me = (n + size - 1 - static_cast<std::size_t>(team.rank())) / size;
          EXPECT_EQ(arrived, static_cast<std::int64_t>(size * for_me));
          const engine_stats stats = engine.stats();
          // items to the own rank are no messages
          EXPECT_TRUE(stats.hops.size() > 1 || stats.hops[0].items == n - for_me) << name;
          EXPECT_EQ(stats.sent().messages == 0, team.size() == 1) << name;
          EXPECT_EQ(engine.sent().messages, stats.sent().messages);
          EXPECT_EQ(engine.sent().wire_bytes, stats.sent().wire_bytes);
          EXPECT_EQ(engine.sent().offnode_bytes, stats.sent().offnode_bytes);
          std::uint64_t offnode = 0;
          for (const auto& hop : stats.hops) {
            EXPECT_EQ(hop.payload_bytes, hop.items * sizeof(item));
            EXPECT_GE(hop.wire_bytes, hop.payload_bytes + hop.messages);
            EXPECT_LE(hop.mean_fill(), 1.0);
            offnode += hop.offnode_bytes;
          }
          EXPECT_EQ(team.allreduce_value(static_cast<std::int64_t>(offnode), reduction::sum) > 0,
                    team.nodes().node_count() > 1);
          const auto samples = team.allreduce_value(
              static_cast<std::int64_t>(stats.latency.count()), reduction::sum);
          EXPECT_GT(samples, 0) << name;
          if (stats.latency.count() > 0) {
            EXPECT_GT(*stats.latency.percentile(0.5), 0);
            EXPECT_LE(*stats.latency.percentile(0.5), *stats.latency.percentile(0.99));
            EXPECT_LT(*stats.latency.percentile(0.99), 60);
          }
          EXPECT_EQ((stats - stats).latency.percentile(0.5), std::nullopt);
        });
  });
}

// The error code that f throws, or errc{}.
template <class F>
errc code_of(F&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

TEST(Engines, refuse_invalid_options_and_calls) {
  spmd([](team& team) {
    EXPECT_EQ(code_of([&] { conveyor(team, {.slots = 0}); }), errc::usage);
    EXPECT_EQ(code_of([&] { conveyor(team, {.hops = 4}); }), errc::usage);
    EXPECT_EQ(code_of([&] { conveyor(team, {.item_bytes = 0}); }), errc::usage);
    exstack2 engine(team, {.item_bytes = sizeof(item)});
    EXPECT_EQ(code_of([&] { engine.restart(); }), errc::usage);
    EXPECT_EQ(code_of([&] {
                deliver_recursive<item>(
                    engine, 0, [](std::size_t) { return addressed<item>{}; },
                    [](int, const item&, const auto&) {});
              }),
              errc::usage);
    while (engine.advance(true)) {
      engine.drain<item>([](int, const item&) {});
      team.progress();
    }
    EXPECT_EQ(code_of([&] { static_cast<void>(engine.push(0, item{})); }),
              errc::usage);  // a rank that is done cannot push
    engine.restart();
    EXPECT_TRUE(engine.push(0, item{}));
    while (engine.advance(true)) engine.drain<item>([](int, const item&) {});
  });
}

}  // namespace
}  // namespace longshore
