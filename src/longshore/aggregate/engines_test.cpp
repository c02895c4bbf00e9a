// What every engine promises, on every route: each item once, in order per pair, to the right rank,
// from the right rank, to the end.
#include <longshore/aggregate/engine_test.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::destinations;
using testing::item;
using testing::loads;
using testing::named_load;
using testing::spmd;
using testing::with_every_engine;

// One use of an engine with what all ranks expect of it. Returns how many items came.
template <class Engine>
std::size_t deliver_and_check(team& team, Engine& engine, const named_load& given,
                              std::uint64_t seed, bool source_known) {
  const auto to = destinations(team, given, seed);
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
        const bool right = one.to == team.rank() && one.from >= 0 && one.from < team.size() &&
                           one.number == came[one.from] && source == (source_known ? one.from : -1);
        if (!right && wrong++ == 0)
          ADD_FAILURE() << "rank " << team.rank() << " got item " << one.number << " from "
                        << one.from << " (said to be from " << source << ") for " << one.to;
        if (one.from >= 0 && one.from < team.size()) ++came[one.from];
      });
  std::size_t sum = 0;
  for (int peer = 0; peer < team.size(); ++peer) {
    EXPECT_EQ(static_cast<std::size_t>(came[peer]), given.count(peer, team.rank(), team.size()))
        << "from rank " << peer;
    sum += static_cast<std::size_t>(came[peer]);
  }
  return sum;
}

TEST(Engines, deliver_every_item_once_and_in_order_and_may_be_used_again) {
  spmd([](team& team) {
    std::int64_t moved = 0;
    for (const bool with_source : {false, true})
      with_every_engine(team,
                        {.item_bytes = sizeof(item),
                         .buffer_items = with_source ? 5u : 1u,
                         .with_source = with_source},
                        [&](auto& engine, const std::string& name) {
                          const bool known = with_source || name == "exstack" ||
                                             name == "exstack2" ||
                                             name.find(" 1 hops") != name.npos;
                          for (const auto& given : loads()) {
                            SCOPED_TRACE(name + ", " + given.name);
                            moved += static_cast<std::int64_t>(
                                deliver_and_check(team, engine, given, 1 + with_source, known));
                          }
                        });
    EXPECT_GT(team.allreduce_value(moved, reduction::sum), 1000);
  });
}

// Items that create items: a random tree, whose members each rank can count without the others.
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
  void add(const seedling& one) {
    ++count;
    sum += static_cast<std::int64_t>(one.name >> 20);
  }
  friend bool operator==(const census&, const census&) = default;
};
void count_tree(const seedling& root, census& all) {
  all.add(root);
  for_each_child(root, [&](const seedling& child) { count_tree(child, all); });
}

TEST(Engines, end_when_items_that_create_items_have_all_been_delivered) {
  spmd([](team& team) {
    const auto place = [&](const seedling& one) {
      return static_cast<int>(one.name % static_cast<std::uint64_t>(team.size()));
    };
    const auto root = [](int rank, std::size_t i) {
      return seedling{mix_bits(static_cast<std::uint64_t>(rank) * 1000 + i), 9};
    };
    with_every_engine(
        team, {.item_bytes = sizeof(seedling), .buffer_items = 3, .items_create_items = true},
        [&](auto& engine, const std::string& name) {
          for (const int round : {0, 1, 2}) {  // also: only one rank begins; nobody does
            const auto roots_of = [&](int rank) {
              return round == 2 || (round == 1 && rank > 0) ? std::size_t{0} : std::size_t{6};
            };
            census expected, came;
            for (int rank = 0; rank < team.size(); ++rank)
              for (std::size_t i = 0; i < roots_of(rank); ++i) count_tree(root(rank, i), expected);
            spread<seedling>(
                engine, roots_of(team.rank()),
                [&](std::size_t i) {
                  return addressed<seedling>{place(root(team.rank(), i)), root(team.rank(), i)};
                },
                [&](int, const seedling& one, const auto& emit) {
                  came.add(one);
                  for_each_child(one, [&](const seedling& child) { emit(place(child), child); });
                });
            // All that this rank saw is final: whoever ends early would miss some.
            const census all{team.allreduce_value(came.count, reduction::sum),
                             team.allreduce_value(came.sum, reduction::sum)};
            EXPECT_EQ(all, expected)
                << name << ", round " << round << ": " << all.count << " of " << expected.count;
            EXPECT_TRUE(round == 2 || expected.count > 50);
          }
        });
  });
}

TEST(Engines, an_item_that_is_not_taken_comes_again_and_nothing_overtakes_it) {
  spmd([](team& team) {
    with_every_engine(
        team, {.item_bytes = sizeof(item), .buffer_items = 16, .with_source = true},
        [&](auto& engine, const std::string& name) {
          std::vector<std::int64_t> came(static_cast<std::size_t>(team.size()));
          // exstack wants all to be drained before it goes on
          const std::size_t per_pair = name == "exstack" ? 16 : 50;
          random_stream random(5, static_cast<std::uint64_t>(team.rank()));
          std::size_t refused = 0, wrong = 0, i = 0;
          const std::size_t n = per_pair * came.size();
          const auto take = [&](int source, const item& one) {
            if (random.below(3) == 0) return ++refused, false;
            wrong += one.from != source || one.to != team.rank() || one.number != came[source]++;
            return true;
          };
          for (bool more = true; more;) {
            for (; i < n; ++i) {
              const int to = static_cast<int>(i % came.size());
              if (!engine.push(to,
                               item{team.rank(), to, static_cast<std::int64_t>(i / came.size())}))
                break;
            }
            more = engine.advance(i == n);
            std::size_t before = 0;
            do {
              before = refused;
              engine.template drain<item>(take);
            } while (name == "exstack" && refused != before);
            team.progress();
          }
          EXPECT_EQ(wrong, 0u) << name;
          EXPECT_GT(refused, 0u);
          for (const auto count : came)
            EXPECT_EQ(static_cast<std::size_t>(count), per_pair) << name;
        });
  });
}

TEST(Engines, steady_ones_deliver_what_waits_in_partial_buffers_while_others_still_push) {
  struct bounds {
    double seconds;
    unsigned advances;
  };
  spmd([](team& team) {
    // Each bound alone, and each beside another that is never reached.
    for (const bounds asked :
         {bounds{0, 3}, bounds{1e-4, 0}, bounds{1e9, 3}, bounds{1e-4, 1'000'000'000}})
      testing::with_every_conveyor(team,
                                   {.item_bytes = sizeof(item),
                                    .buffer_items = 1000,
                                    .steady_seconds = asked.seconds,
                                    .steady_advances = asked.advances},
                                   [&](auto& engine, const std::string& name) {
                                     // One item to each; nobody is done before it has got one from everybody. Without a
                                     // bound this would never end.
                                     for (int peer = 0; peer < team.size(); ++peer)
                                       ASSERT_TRUE(engine.push(peer, item{team.rank(), peer, 0}));
                                     int came = 0;
                                     waiter wait(team, name.c_str());
                                     while (engine.advance(came == team.size())) {
                                       if (engine.template drain<item>([&](int, const item& one) {
                                             came += one.to == team.rank();
                                           }) == 0)
                                         wait.pause();
                                     }
                                     EXPECT_EQ(came, team.size()) << name;
                                   });
  });
}

TEST(Engines, steady_ones_keep_what_was_pushed_before_the_first_advance_until_it_is_too_old) {
  spmd([](team& team) {
    // A bound that the clock itself is beyond: the age of a buffer is not the age of the machine.
    const double bound = team.now() / 2;
    testing::with_every_conveyor(
        team,
        {.item_bytes = sizeof(item),
         .buffer_items = 1000,
         .steady_seconds = team.allreduce_value(bound, reduction::max)},
        [&](auto& engine, const std::string& name) {
          for (int use = 0; use < 2; ++use) {
            team.barrier();
            const std::size_t before = engine.activity();
            ASSERT_TRUE(engine.push(team.rank(), item{team.rank(), team.rank(), 0}));
            EXPECT_TRUE(engine.advance(false));
            EXPECT_EQ(engine.activity(), before) << name << " in use " << use;
            team.barrier();  // what comes from ranks that end the use is activity, too
            while (engine.advance(true)) engine.template drain<item>([](int, const item&) {});
            engine.restart();
          }
        });
  });
}

TEST(Engines, count_what_they_send_and_time_some_items) {
  spmd([](team& team) {
    testing::with_every_engine(
        team, {.item_bytes = sizeof(item), .buffer_items = 8, .stamp_every = 1},
        [&](auto& engine, const std::string& name) {
          const std::size_t n = 800;
          std::int64_t came = 0;
          deliver<item>(
              engine, n,
              [&](std::size_t i) {
                const int to = static_cast<int>(i) % team.size();
                return addressed<item>{to, {team.rank(), to, 0}};
              },
              [&](int, const item&) { ++came; });
          const std::size_t size = static_cast<std::size_t>(team.size());
          // from each rank
          const std::size_t for_me = (n + size - 1 - static_cast<std::size_t>(team.rank())) / size;
          EXPECT_EQ(came, static_cast<std::int64_t>(size * for_me));
          const engine_report report = engine.report();
          // the own ones are copies
          EXPECT_TRUE(report.hops.size() > 1 || report.hops[0].items == n - for_me) << name;
          EXPECT_EQ(report.sent().messages == 0, team.size() == 1) << name;
          EXPECT_EQ(engine.sent().messages, report.sent().messages);
          EXPECT_EQ(engine.sent().wire_bytes, report.sent().wire_bytes);
          EXPECT_EQ(engine.sent().offnode_bytes, report.sent().offnode_bytes);
          std::uint64_t offnode = 0;
          for (const auto& hop : report.hops) {
            EXPECT_EQ(hop.payload_bytes, hop.items * sizeof(item));
            EXPECT_GE(hop.wire_bytes, hop.payload_bytes + hop.messages);
            EXPECT_LE(hop.mean_fill(), 1.0);
            offnode += hop.offnode_bytes;
          }
          EXPECT_EQ(team.allreduce_value(static_cast<std::int64_t>(offnode), reduction::sum) > 0,
                    team.nodes().node_count() > 1);
          const auto samples = team.allreduce_value(
              static_cast<std::int64_t>(report.latency.count()), reduction::sum);
          EXPECT_EQ(samples > 0, name != "exstack") << name;
          if (report.latency.count() > 0) {
            EXPECT_GT(*report.latency.percentile(0.5), 0);
            EXPECT_LE(*report.latency.percentile(0.5), *report.latency.percentile(0.99));
            EXPECT_LT(*report.latency.percentile(0.99), 60);
          }
          EXPECT_EQ((report - report).latency.percentile(0.5), std::nullopt);
        });
  });
}

// One function that says what happened, so that tests can ask for the code.
template <class F>
errc code_of(F&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

TEST(Engines, refuse_what_makes_no_sense) {
  spmd([](team& team) {
    EXPECT_EQ(code_of([&] { conveyor(team, {.slots = 0}); }), errc::usage);
    EXPECT_EQ(code_of([&] { conveyor(team, {.hops = 4}); }), errc::usage);
    EXPECT_EQ(code_of([&] { conveyor(team, {.item_bytes = 0}); }), errc::usage);
    EXPECT_EQ(code_of([&] { conveyor(team, {.buffer_items = 2, .elastic = true}); }), errc::usage);
    EXPECT_EQ(code_of([&] { exstack_engine(team, {.elastic = true}); }), errc::unsupported);
    exstack2 engine(team, {.item_bytes = sizeof(item)});
    EXPECT_EQ(code_of([&] { engine.restart(); }), errc::usage);
    EXPECT_EQ(code_of([&] {
                spread<item>(
                    engine, 0, [](std::size_t) { return addressed<item>{}; },
                    [](int, const item&, const auto&) {});
              }),
              errc::usage);
    while (engine.advance(true)) {
      engine.drain<item>([](int, const item&) {});
      team.progress();
    }
    EXPECT_EQ(code_of([&] { static_cast<void>(engine.push(0, item{})); }),
              errc::usage);  // done is done
    engine.restart();
    EXPECT_TRUE(engine.push(0, item{}));
    while (engine.advance(true)) engine.drain<item>([](int, const item&) {});
  });
}

// What decides about stamps: a rank that cannot read the name of its kernel asks all the same.
TEST(Conveyor, a_text_is_the_same_everywhere_only_where_every_rank_has_it) {
  spmd([](team& team) {
    const bool last = team.rank() == team.size() - 1;
    EXPECT_TRUE(detail::is_same_everywhere(team, "one"));
    EXPECT_FALSE(detail::is_same_everywhere(team, ""));
    EXPECT_FALSE(detail::is_same_everywhere(team, last ? "" : "one"));
    EXPECT_EQ(detail::is_same_everywhere(team, last ? "another" : "one"), team.size() == 1);
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore
