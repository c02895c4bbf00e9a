// Tests plans that are bound to other memory, fields whose elements lie anywhere in an array, and
// assembled values.
#include <longshore/ghost/ghost_test.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <array>
#include <chrono>
#include <numeric>
#include <thread>

namespace longshore {
namespace {

using namespace testing;

template <class Allocator>
void expect_right_after_each_binding(team& team, const ghost_case& c, ghost_strategy strategy) {
  const auto me = static_cast<std::uint64_t>(team.rank());
  const auto graph = graph_of(team, c);
  using field = test_field<double, Allocator>;
  auto first = std::make_unique<field>(graph.owned(), graph.ghosts());
  ghost_exchange plan(graph, {.strategy = strategy}, first->view());
  std::vector<std::unique_ptr<field>> kept;
  for (std::uint64_t tag = 1; tag <= 4; ++tag) {
    // Later fields have other strides and other addresses. Some are freed in between.
    auto next = std::make_unique<field>(graph.owned(), graph.ghosts(), tag % 2 == 0 ? 8 : 24);
    next->fill(tag, me);
    if (tag == 1) {
      plan.update(next->view());
    } else {
      plan.start_update(next->view());
      plan.wait();
    }
    EXPECT_EQ(wrong_after_update(*next, c, team.rank(), tag, double{}), 0u)
        << name_of(strategy) << ", " << c.name;
    next->fill(tag + 10, me);
    plan.accumulate(op::add{});
    EXPECT_EQ(wrong_after_accumulate(*next, c, team.rank(), tag + 10, double{}, add), 0u)
        << name_of(strategy) << ", " << c.name;
    first.reset();
    if (tag == 2) kept.clear();
    kept.push_back(std::move(next));
  }
}

TEST(GhostBinding, every_operation_is_right_after_each_binding) {
  spmd([](team& team) {
    for (const auto& c : ghost_cases(team.size()))
      for (const auto strategy : possible_strategies(team)) {
        expect_right_after_each_binding<shared_bytes>(team, c, strategy);
        expect_right_after_each_binding<std::allocator<std::byte>>(team, c, strategy);
      }
  });
}

TEST(GhostBinding, only_some_ranks_may_bind_other_memory) {
  spmd([](team& team) {
    const auto cases = ghost_cases(team.size());
    const auto& c = cases[0];
    const auto me = static_cast<std::uint64_t>(team.rank());
    for (const auto strategy : possible_strategies(team)) {
      const auto graph = graph_of(team, c);
      test_field<double, shared_bytes> a(graph.owned(), graph.ghosts()),
          b(graph.owned(), graph.ghosts());
      ghost_exchange plan(graph, {.strategy = strategy}, a.view());
      for (std::uint64_t tag = 1; tag <= 4; ++tag) {
        auto& used = (tag + me) % 2 == 0 ? a : b;
        if (tag % 3 != 0 || (tag + me) % 2 == 0) plan.rebind(used.view());
        auto& bound =
            tag % 3 == 0 && (tag + me) % 2 != 0 ? ((tag - 1 + me) % 2 == 0 ? a : b) : used;
        bound.fill(tag, me);
        plan.update();
        EXPECT_EQ(wrong_after_update(bound, c, team.rank(), tag, double{}), 0u)
            << name_of(strategy);
      }
    }
  });
}

TEST(GhostBinding, a_plan_may_be_made_before_its_memory) {
  spmd([](team& team) {
    const auto c = ghost_cases(team.size()).front();
    const auto me = static_cast<std::uint64_t>(team.rank());
    auto strategies = possible_strategies(team);
    strategies.push_back(ghost_strategy::automatic);
    for (const auto strategy : strategies)
      for (std::uint64_t way = 0; way < (strategy == ghost_strategy::direct ? 5u : 1u); ++way) {
        const auto graph = graph_of(team, c);
        ghost_exchange plan(graph, {.strategy = strategy});
        EXPECT_TRUE(plan);
        EXPECT_EQ(plan.strategy(), strategy);
        EXPECT_EQ(plan.memory_bytes() + plan.neighbours() + plan.moved().payload_bytes, 0u);
        expect_error(team, errc::usage, {"no memory yet", "rebind"}, [&] { plan.update(); });
        expect_error(team, errc::usage, {"no memory yet"}, [&] { plan.accumulate(op::add{}); });
        expect_error(team, errc::usage, {"no memory yet"}, [&] { plan.wait(); });
        ghost_exchange moved = std::move(plan);
        EXPECT_FALSE(plan);
        plan = std::move(moved);
        test_field<double, shared_bytes> first(graph.owned(), graph.ghosts()),
            second(graph.owned(), graph.ghosts());
        std::uint64_t tag = 10 * way;
        for (auto* const field : {&first, &second}) {
          field->fill(++tag, me);
          if (way == 0) plan.update(field->view());
          if (way == 1) plan.start_update(field->view()), plan.wait();
          if (way == 2) plan.rebind(field->view()), plan.update();
          if (way == 3) plan.remake(graph), plan.update(field->view());
          if (way == 4) plan.remake(graph, {field->view().memory()}), plan.update();
          EXPECT_EQ(wrong_after_update(*field, c, team.rank(), tag, double{}), 0u)
              << name_of(strategy) << ", way " << way;
        }
        EXPECT_NE(plan.strategy(), ghost_strategy::automatic);
      }
  });
}

TEST(GhostBinding, ranks_agree_on_the_first_memory_of_a_plan) {
  spmd([](team& team) {
    const ghost_graph graph(team, std::size_t{1},
                            std::vector<std::int64_t>{(team.rank() + 1) % team.size()});
    const bool is_last = team.rank() == team.size() - 1;
    std::vector<double> x{1.0 * team.rank(), 0};
    std::vector<float> y(2);
    const ghost_field dx(x.data(), x.data() + 1);
    const std::vector<ghost_memory> none, right{dx.memory()},
        floats{ghost_field(y.data(), y.data() + 1).memory()};
    for (const auto strategy : possible_strategies(team)) {
      const ghost_options options{.strategy = strategy};
      if (team.size() > 1)
        expect_error(team, errc::usage, {"fields: 1", "fields: 0"},
                     [&] { ghost_exchange(graph, options, is_last ? none : right); });
      ghost_exchange plan(graph, options);
      if (team.size() > 1)
        expect_error(team, errc::usage, {"float64 (8 bytes)", "float32 (4 bytes)"},
                     [&] { plan.rebind(is_last ? floats : right); });
      expect_error(team, errc::usage, {"no memory for 1 ghosts"},
                   [&] { plan.update(is_last ? ghost_field<double>(x.data(), nullptr) : dx); });
      x[1] = -1;
      plan.update(dx);
      EXPECT_EQ(x[1], (team.rank() + 1) % team.size());
      plan.remake(graph, none);  // takes the memory away again
      expect_error(team, errc::usage, {"no memory yet"}, [&] { plan.update(); });
    }
    expect_error(team, errc::usage, {"for no operation"},
                 [&] { ghost_exchange(graph, {.updates = false, .accumulates = false}); });
  });
}

TEST(GhostBinding, elements_may_lie_anywhere_in_an_array) {
  spmd([](team& team) {
    const auto me = static_cast<std::uint64_t>(team.rank());
    for (const auto& c : ghost_cases(team.size())) {
      const auto graph = graph_of(team, c);
      const std::size_t owned = graph.owned(), ghosts = graph.ghosts();
      std::vector<long long> owned_places(owned);
      std::vector<int> ghost_places(ghosts);
      std::iota(owned_places.begin(), owned_places.end(), 3LL);
      std::iota(ghost_places.begin(), ghost_places.end(), static_cast<int>(owned) + 5);
      random_stream random(7);
      shuffle(std::span<long long>(owned_places), random);
      shuffle(std::span<int>(ghost_places), random);
      auto strategies = possible_strategies(team);
      strategies.push_back(ghost_strategy::automatic);
      for (const auto strategy : strategies) {
        std::vector<double, shared_allocator<double>> memory(owned + ghosts + 9), other = memory;
        test_field<float> dense(owned, ghosts);
        ghost_exchange plan(graph, {.strategy = strategy},
                            ghost_field(memory.data(), owned_places, ghost_places), dense.view());
        const auto run = [&](std::vector<double, shared_allocator<double>>& bound,
                             std::uint64_t tag) {
          std::fill(bound.begin(), bound.end(), -1.0);
          for (std::size_t i = 0; i < owned; ++i)
            bound[static_cast<std::size_t>(owned_places[i])] = ghost_value<double>(tag, 0, me, i);
          dense.fill(tag, me);
          plan.update();
          std::size_t wrong = wrong_after_update(dense, c, team.rank(), tag, float{});
          const auto& list = c.ghosts[static_cast<std::size_t>(team.rank())];
          for (std::size_t i = 0; i < ghosts; ++i)
            wrong += bound[static_cast<std::size_t>(ghost_places[i])] !=
                     ghost_value<double>(tag, 0, static_cast<std::uint64_t>(list[i].rank),
                                         list[i].offset);
          std::size_t untouched = 0;
          for (const double value : bound) untouched += value == -1.0;
          EXPECT_EQ(untouched, 9u);
          EXPECT_EQ(wrong, 0u) << name_of(strategy) << ", " << c.name;
        };
        run(memory, 1);
        plan.rebind(ghost_field(other.data(), owned_places, ghost_places), dense.view());
        run(other, 2);
      }
    }
  });
}

TEST(GhostBinding, assembled_values_are_the_same_at_the_owner_and_at_its_ghosts) {
  spmd([](team& team) {
    for (const auto& c : ghost_cases(team.size())) {
      const auto graph = graph_of(team, c);
      std::vector<std::vector<double>> expected;
      for (int r = 0; r < team.size(); ++r) expected.push_back(accumulated<double>(c, r, 5, add));
      for (const auto strategy : possible_strategies(team)) {
        test_field<double, shared_bytes> a(graph.owned(), graph.ghosts());
        ghost_exchange plan(graph, {.strategy = strategy}, a.view());
        for (int repetition = 0; repetition < 2; ++repetition) {
          a.fill(5, static_cast<std::uint64_t>(team.rank()));
          plan.assemble(op::add{});
          std::size_t wrong = 0;
          const auto& list = c.ghosts[static_cast<std::size_t>(team.rank())];
          for (std::size_t i = 0; i < list.size(); ++i)
            wrong += a.ghost(i) != expected[static_cast<std::size_t>(list[i].rank)][list[i].offset];
          for (std::size_t i = 0; i < graph.owned(); ++i)
            wrong += a.owned(i) != expected[static_cast<std::size_t>(team.rank())][i];
          EXPECT_EQ(wrong, 0u) << name_of(strategy) << ", " << c.name;
        }
        ghost_exchange updates(graph, {.strategy = strategy, .accumulates = false}, a.view());
        EXPECT_THROW(updates.assemble(op::add{}), error);
      }
    }
  });
}

// Rank 0 has ghosts of the ranks 1 and 2, and rank 2 has a ghost of rank 0. Rank 1 is late, so the
// messages to it wait. Messages of the next round must not get ahead of those that wait.
TEST(GhostBinding, a_late_rank_does_not_change_the_order_of_rounds) {
  spmd([](team& team) {
    if (team.size() != 3) return;
    const int me = team.rank();
    std::vector<location> ghosts;
    if (me == 0) ghosts = {{1, 0}, {2, 0}};
    if (me == 2) ghosts = {{0, 0}};
    const ghost_graph graph(team, 1, std::span<const location>(ghosts));
    for (const auto strategy : possible_strategies(team)) {
      test_field<double> field(1, ghosts.size());
      const auto fill = [&] {
        field.owned(0) = 100 * (me + 1);
        for (std::size_t i = 0; i < ghosts.size(); ++i)
          field.ghost(i) = 1 + me * 10 + static_cast<double>(i);
      };
      fill();
      ghost_exchange plan(graph, {.strategy = strategy}, field.view());
      if (me == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      plan.accumulate(op::add{});
      plan.accumulate(op::add{});
      fill();
      plan.assemble(op::add{});
      const std::array<double, 3> assembled{121, 201, 302};
      EXPECT_EQ(field.owned(0), assembled[static_cast<std::size_t>(me)]) << name_of(strategy);
      for (std::size_t i = 0; i < ghosts.size(); ++i)
        EXPECT_EQ(field.ghost(i), assembled[static_cast<std::size_t>(ghosts[i].rank)])
            << name_of(strategy);
      team.barrier();
    }
  });
}

TEST(GhostBinding, memory_that_does_not_fit_the_plan_is_refused) {
  spmd([](team& team) {
    const auto next = static_cast<std::int64_t>((team.rank() + 1) % team.size()) * 10;
    const ghost_graph graph(team, std::size_t{10}, std::vector<std::int64_t>{next});
    std::vector<double, shared_allocator<double>> shared(11);
    std::vector<double> own(11);
    std::vector<float> floats(11);
    std::vector<int> places(10), ghost_places{10};
    std::iota(places.begin(), places.end(), 0);
    ghost_exchange plan(graph, {}, ghost_field(shared.data(), shared.data() + 10));
    EXPECT_THROW(plan.rebind(ghost_field(floats.data(), floats.data() + 10)), error);
    EXPECT_THROW(plan.rebind(ghost_field(shared.data(), places, ghost_places)), error);
    EXPECT_THROW(plan.rebind(ghost_field<double>(nullptr, nullptr)), error);
    const bool is_read =
        !team.is_one_process() && team.nodes().largest_node() > 1 && team.size() > 1;
    if (is_read && team.nodes().ranks_on_my_node() > 1) {
      EXPECT_THROW(plan.rebind(ghost_field(own.data(), own.data() + 10)), error);
    }
    EXPECT_THROW(ghost_field(own.data(), std::vector<int>{-1}, ghost_places), error);
    team.barrier();
    std::iota(shared.begin(), shared.end(), 10.0 * team.rank());
    plan.update();
    EXPECT_EQ(shared[10], static_cast<double>(next));
    EXPECT_THROW(ghost_exchange(graph, {}, ghost_field(own.data(), ghost_places, ghost_places)),
                 error);
  });
}

}  // namespace
}  // namespace longshore
