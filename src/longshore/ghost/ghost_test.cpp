// Tests every strategy and operation on graphs of every shape, on every transport. All elements and
// ghosts must have the values of a serial oracle, bit by bit.
#include <longshore/exchange/caches_test.hpp>
#include <longshore/ghost/ghost_test.hpp>

#include <longshore/transport/spmd_test.hpp>

namespace longshore {
namespace {

using namespace testing;

constexpr auto lesser = [](auto& a, const auto& b) { a = std::min(a, b); };
constexpr auto greater = [](auto& a, const auto& b) { a = std::max(a, b); };
constexpr auto bits = [](auto& a, const auto& b) { a |= b; };
// Neither associative nor commutative, so the order matters.
constexpr auto blend = [](vec3& a, const vec3& b) {
  a = {0.5 * a.x + b.x, a.y - 2 * b.y, a.z * (1 + b.x)};
};

TEST(Ghost, every_ghost_is_right_by_every_strategy) {
  spmd([](team& team) {
    std::size_t checked = 0, number = 0;
    for (const auto& c : ghost_cases(team.size())) {
      const auto graph = graph_of(team, c);
      const auto owned = graph.owned(), ghosts = graph.ghosts();
      const testing::assumed_caches caches(team, ++number % 2 == 0);
      for (const auto strategy : possible_strategies(team)) {
        test_field<double, shared_bytes> a(owned, ghosts);
        test_field<vec3> b(owned, ghosts, 40);
        test_field<float, shared_bytes> d(owned, ghosts, 12);
        test_field<std::uint8_t> e(owned, ghosts);
        ghost_exchange plan(graph, {.strategy = strategy}, a.view(), b.view(), d.view(), e.view());
        for (std::uint64_t tag = 1; tag <= 3; ++tag) {
          a.fill(tag, static_cast<std::uint64_t>(team.rank()));
          b.fill(tag, static_cast<std::uint64_t>(team.rank()));
          d.fill(tag, static_cast<std::uint64_t>(team.rank()));
          e.fill(tag, static_cast<std::uint64_t>(team.rank()));
          plan.update();
          const auto wrong = wrong_after_update(a, c, team.rank(), tag, double{}) +
                             wrong_after_update(b, c, team.rank(), tag, vec3{}) +
                             wrong_after_update(d, c, team.rank(), tag, float{}) +
                             wrong_after_update(e, c, team.rank(), tag, std::uint8_t{});
          EXPECT_EQ(wrong, 0u) << name_of(strategy) << ", " << c.name;
          checked += c.ghost_count();
        }
      }
    }
    EXPECT_GT(checked, 1000u);
  });
}

TEST(Ghost, accumulate_gives_the_bits_of_a_serial_loop_by_every_strategy) {
  spmd([](team& team) {
    std::size_t checked = 0, number = 0;
    const auto me = static_cast<std::uint64_t>(team.rank());
    for (const auto& c : ghost_cases(team.size())) {
      const auto graph = graph_of(team, c);
      const auto owned = graph.owned(), ghosts = graph.ghosts();
      const testing::assumed_caches caches(team, ++number % 2 == 0);
      for (const auto strategy : possible_strategies(team)) {
        test_field<double> a(owned, ghosts);
        test_field<vec3, shared_bytes> b(owned, ghosts, 32);
        test_field<std::int32_t, shared_bytes> d(owned, ghosts, 8);
        test_field<std::uint16_t> e(owned, ghosts);
        ghost_exchange plan(graph, {.strategy = strategy}, a.view(), b.view(), d.view(), e.view());
        const combine_op operations[] = {op::add{}, combine_op::of<vec3>(blend), op::max{},
                                         op::bit_or{}};
        for (std::uint64_t tag = 1; tag <= 2; ++tag) {
          a.fill(tag, me), b.fill(tag, me), d.fill(tag, me), e.fill(tag, me);
          plan.accumulate(operations);
          const auto wrong =
              wrong_after_accumulate(a, c, team.rank(), tag, double{}, add) +
              wrong_after_accumulate(b, c, team.rank(), tag, vec3{}, blend) +
              wrong_after_accumulate(d, c, team.rank(), tag, std::int32_t{}, greater) +
              wrong_after_accumulate(e, c, team.rank(), tag, std::uint16_t{}, bits);
          EXPECT_EQ(wrong, 0u) << name_of(strategy) << ", " << c.name;
          checked += c.ghost_count();
        }
        test_field<float> f(owned, ghosts);
        ghost_exchange least(graph, {.strategy = strategy, .updates = false}, f.view());
        f.fill(9, me);
        least.accumulate(op::min{});
        EXPECT_EQ(wrong_after_accumulate(f, c, team.rank(), 9, float{}, lesser), 0u);
      }
    }
    EXPECT_GT(checked, 500u);
  });
}

// A's ghost is an element of B that B has combined with ghosts of C.
TEST(Ghost, chained_ghosts_get_accumulated_values) {
  spmd([](team& team) {
    for (const auto& c : ghost_cases(team.size())) {
      const auto graph = graph_of(team, c);
      for (const auto strategy : possible_strategies(team)) {
        test_field<double> a(graph.owned(), graph.ghosts());
        ghost_exchange plan(graph, {.strategy = strategy}, a.view());
        a.fill(5, static_cast<std::uint64_t>(team.rank()));
        plan.accumulate(op::add{});
        plan.update();
        std::vector<std::vector<double>> expected;
        for (int r = 0; r < team.size(); ++r) expected.push_back(accumulated<double>(c, r, 5, add));
        std::size_t wrong = 0;
        const auto list = ghosts_of(c, team.rank());
        for (std::size_t i = 0; i < list.size(); ++i)
          wrong += a.ghost(i) == expected[static_cast<std::size_t>(list[i].rank)][list[i].offset]
                       ? 0
                       : 1;
        EXPECT_EQ(wrong, 0u) << name_of(strategy) << ", " << c.name;
      }
    }
  });
}

TEST(Ghost, memory_that_was_freed_is_refused_also_if_new_memory_lies_there) {
  spmd([](team& team) {
    const auto next = static_cast<std::int64_t>((team.rank() + 1) % team.size()) * 10;
    const ghost_graph graph(team, std::size_t{10}, std::vector<std::int64_t>{next});
    for (const auto strategy : possible_strategies(team)) {
      using vector = std::vector<double, shared_allocator<double>>;
      auto x = std::make_unique<vector>(11, 1.0);
      ghost_exchange plan(graph, {.strategy = strategy}, ghost_field(x->data(), x->data() + 10));
      plan.update();
      team.barrier();  // the other ranks have read the elements
      vector().swap(*x);
      *x = vector(11, 2.0);
      try {
        plan.start_update();
        ADD_FAILURE() << name_of(strategy) << " uses memory that was freed";
        plan.wait();
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::usage);
      }
      plan.remake(graph, {ghost_field(x->data(), x->data() + 10).memory()});
      plan.update();
      EXPECT_EQ((*x)[10], 2.0);
    }
  });
}

TEST(Ghost, several_plans_are_in_flight_together_and_end_by_test) {
  spmd([](team& team) {
    const auto cases = ghost_cases(team.size());
    const auto& c = cases.front();
    const auto graph = graph_of(team, c);
    const auto me = static_cast<std::uint64_t>(team.rank());
    for (const auto strategy : possible_strategies(team)) {
      test_field<double, shared_bytes> a(graph.owned(), graph.ghosts());
      test_field<float> b(graph.owned(), graph.ghosts());
      test_field<double> d(graph.owned(), graph.ghosts(), 24);
      ghost_exchange first(graph, {.strategy = strategy}, a.view());
      ghost_exchange second(graph, {.strategy = strategy}, b.view());
      ghost_exchange third(graph, {.strategy = ghost_strategy::direct}, d.view());
      for (std::uint64_t tag = 1; tag <= 3; ++tag) {
        a.fill(tag, me), b.fill(tag + 10, me), d.fill(tag + 20, me);
        first.start_update();
        second.start_accumulate(op::add{});
        third.start_update();
        bool are_done = false;
        while (!are_done) {
          const bool is_first = first.test(), is_second = second.test();
          are_done = is_first && is_second;
          team.progress();
          if (!are_done) std::this_thread::yield();
          if (team.costs() != nullptr) break;  // a loop of tests lets no simulated time pass
        }
        if (!are_done && !first.test()) first.wait();
        if (!are_done && !second.test()) second.wait();
        third.wait();
        EXPECT_EQ(wrong_after_update(a, c, team.rank(), tag, double{}), 0u);
        EXPECT_EQ(wrong_after_accumulate(b, c, team.rank(), tag + 10, float{}, add), 0u);
        EXPECT_EQ(wrong_after_update(d, c, team.rank(), tag + 20, double{}), 0u);
      }
    }
  });
}

// Rank 0 sends to the last rank and receives nothing, so no message tells it how far that rank is.
TEST(Ghost, a_sender_that_receives_nothing_does_not_get_far_ahead) {
  spmd([](team& team) {
    if (team.size() == 1 || team.costs() != nullptr) return;
    constexpr std::size_t elements = 20;
    constexpr std::uint64_t exchanges = 8;
    ghost_case c{"one sender", std::vector<std::size_t>(static_cast<std::size_t>(team.size())), {}};
    c.owned[0] = elements;
    c.ghosts.resize(c.owned.size());
    for (std::uint64_t i = 0; i < elements; ++i) c.ghosts.back().push_back({0, i});
    const auto graph = graph_of(team, c);
    const auto me = static_cast<std::uint64_t>(team.rank());
    for (const auto strategy :
         {ghost_strategy::standard, ghost_strategy::node_aware, ghost_strategy::direct}) {
      test_field<double> a(graph.owned(), graph.ghosts());
      ghost_exchange plan(graph, {.strategy = strategy}, a.view());
      std::uint64_t completed = 0;
      const auto start = [&] {
        a.fill(completed + 1, me);
        plan.start_update();
      };
      const auto complete = [&] {
        plan.wait();
        EXPECT_EQ(wrong_after_update(a, c, team.rank(), ++completed, double{}), 0u);
      };
      // Rank 0 makes exchanges alone, until one does not complete.
      bool is_in_flight = false;
      while (team.rank() == 0 && !is_in_flight && completed < exchanges) {
        start();
        is_in_flight = true;
        for (int polls = 0; polls < 2000 && is_in_flight; ++polls) {
          is_in_flight = !plan.test();
          team.progress();
        }
        completed += is_in_flight ? 0 : 1;
      }
      EXPECT_LT(completed, exchanges) << name_of(strategy);
      team.barrier();
      if (is_in_flight) complete();
      while (completed < exchanges) {
        start();
        complete();
      }
    }
  });
}

TEST(Ghost, a_wrong_value_or_a_wrong_link_is_found) {
  spmd([](team& team) {
    const auto cases = ghost_cases(team.size());
    const auto& c = cases.front();
    const auto graph = graph_of(team, c);
    const auto me = static_cast<std::uint64_t>(team.rank());
    test_field<double> a(graph.owned(), graph.ghosts());
    const auto run = [&](const ghost_graph& used, const auto& fault) {
      ghost_exchange plan(used, {}, a.view());
      a.fill(1, me);
      plan.update();
      fault();
      return wrong_after_update(a, c, team.rank(), 1, double{});
    };
    EXPECT_EQ(run(graph, [] {}), 0u);
    EXPECT_EQ(run(graph, [&] { a.ghost(3) = -1; }), 1u);
    EXPECT_EQ(run(graph, [&] { a.owned(2) = -1; }), 1u);
    auto list = c.ghosts[me];
    list[7].offset = (list[7].offset + 1) % c.owned[static_cast<std::size_t>(list[7].rank)];
    EXPECT_EQ(run(ghost_graph(team, graph.owned(), std::span<const location>(list)), [] {}), 1u);
    // The results of the oracle of accumulate depend on the order of the ranks.
    std::size_t differing = 0;
    auto reversed = c;
    if (team.size() > 1) std::swap(reversed.ghosts[0], reversed.ghosts[1]);
    for (int r = 0; r < team.size(); ++r)
      differing += accumulated<vec3>(c, r, 1, blend) == accumulated<vec3>(reversed, r, 1, blend);
    EXPECT_LT(differing, static_cast<std::size_t>(team.size() == 1 ? 2 : team.size()));
  });
}

TEST(Ghost, plans_tell_their_traffic_and_neighbours) {
  spmd([](team& team) {
    const testing::assumed_caches caches(team, false);
    const auto cases = ghost_cases(team.size());
    const auto& c = cases.front();
    const auto graph = graph_of(team, c);
    std::size_t needed = 0, other_readers = 0;
    for (int r = 0; r < team.size(); ++r) {
      needed += graph.needed_by(r).size();
      other_readers += r != team.rank() && !graph.needed_by(r).empty() ? 1 : 0;
    }
    EXPECT_EQ(graph.readers().size(), other_readers);
    test_field<double, shared_bytes> a(graph.owned(), graph.ghosts());
    for (const auto strategy : possible_strategies(team)) {
      const ghost_exchange plan(graph, {.strategy = strategy}, a.view());
      const auto moved = plan.moved();
      EXPECT_EQ(moved.payload_bytes, 8 * needed);
      EXPECT_EQ(plan.moved(ghost_operation::accumulate).payload_bytes, 8 * graph.ghosts());
      EXPECT_EQ(plan.strategy(), strategy);
      if (const auto [copied, read, channels, posted, mpi] = plan.transfers();
          strategy != ghost_strategy::node_aware && strategy != ghost_strategy::node_aware_2) {
        EXPECT_EQ(copied + read + channels + posted + mpi, moved.payload_bytes);
      }
      EXPECT_GT(plan.memory_bytes(), 0u);
      if (strategy == ghost_strategy::standard) {
        EXPECT_EQ(moved.messages, graph.readers().size());
        EXPECT_GE(plan.neighbours(), graph.readers().size());
      }
      if (strategy == ghost_strategy::direct && team.nodes().node_count() == 1 &&
          team.is_one_process()) {
        EXPECT_EQ(moved.messages, 0u);
      }
      if (strategy == ghost_strategy::node_aware) {
        // One message per pair of nodes.
        const auto between_nodes = team.allreduce_value<std::int64_t>(
            moved.offnode_bytes > 0 ? static_cast<std::int64_t>(moved.messages) : 0,
            reduction::sum);
        const int nodes = team.nodes().node_count();
        if (team.is_one_process()) {
          EXPECT_LE(between_nodes, nodes * (nodes - 1));
        }
      }
    }
    EXPECT_GT(graph.memory_bytes(), 0u);
  });
}

TEST(Ghost, auto_takes_the_same_strategy_on_all_ranks) {
  spmd([](team& team) {
    const auto cases = ghost_cases(team.size());
    const auto& c = cases.front();
    const auto graph = graph_of(team, c);
    test_field<double> a(graph.owned(), graph.ghosts(), 16);
    ghost_exchange plan(graph, {.strategy = ghost_strategy::automatic}, a.view());
    EXPECT_NE(plan.strategy(), ghost_strategy::automatic);
    const auto chosen = static_cast<std::int64_t>(plan.strategy());
    EXPECT_EQ(team.allreduce_value(chosen, reduction::min),
              team.allreduce_value(chosen, reduction::max));
    a.fill(1, static_cast<std::uint64_t>(team.rank()));
    plan.update();
    EXPECT_EQ(wrong_after_update(a, c, team.rank(), 1, double{}), 0u);
  });
}

}  // namespace
}  // namespace longshore
