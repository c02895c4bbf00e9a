// Tests the forms of a graph, its remaking, and the errors that all ranks throw together.
#include <longshore/array/block.hpp>
#include <longshore/array/block_cyclic.hpp>
#include <longshore/array/cyclic.hpp>
#include <longshore/exchange/detail/agreement/learn_sources.hpp>
#include <longshore/ghost/ghost_test.hpp>
#include <longshore/transport/spmd_test.hpp>

namespace longshore {
namespace {

using namespace testing;

void expect_same(const ghost_graph& a, const ghost_graph& b) {
  EXPECT_EQ(a.owned(), b.owned());
  EXPECT_EQ(a.ghosts(), b.ghosts());
  EXPECT_TRUE(std::ranges::equal(a.owners(), b.owners()));
  EXPECT_TRUE(std::ranges::equal(a.readers(), b.readers()));
  for (int r = 0; r < a.ranks().size(); ++r) EXPECT_EQ(a.needed_by(r), b.needed_by(r));
}

std::span<const location> pairs_of(const ghost_case& c, int rank) {
  return c.ghosts[static_cast<std::size_t>(rank)];
}

// A case in all forms of indices, as one rank gives them.
struct indexed_case {
  indexed_case(const ghost_case& c, int rank) {
    const auto me = static_cast<std::size_t>(rank);
    std::vector<std::int64_t> first(c.owned.size() + 1);
    for (std::size_t r = 0; r < c.owned.size(); ++r)
      first[r + 1] = first[r] + static_cast<std::int64_t>(c.owned[r]);
    const auto scatter = [](std::int64_t index) { return index * 7919 % 100003 + index / 100003; };
    for (const auto& ghost : c.ghosts[me]) {
      indices.push_back(first[static_cast<std::size_t>(ghost.rank)] +
                        static_cast<std::int64_t>(ghost.offset));
      scattered.push_back(scatter(indices.back()));
      owners.push_back(ghost.rank);
    }
    for (auto i = first[me]; i < first[me + 1]; ++i) {
      ascending_ids.push_back(i);
      ids.push_back(scatter(i));
    }
  }
  std::vector<std::int64_t> indices, scattered;  // of the ghosts
  std::vector<int> owners;                       // of the ghosts
  std::vector<std::int64_t> ascending_ids, ids;  // of the elements
};

TEST(GhostGraph, all_forms_of_indices_give_the_same_graph) {
  spmd([](team& team) {
    for (const auto& c : ghost_cases(team.size())) {
      const auto owned = c.owned[static_cast<std::size_t>(team.rank())];
      const ghost_graph pairs(team, owned, pairs_of(c, team.rank()));
      const indexed_case by(c, team.rank());
      expect_same(pairs, ghost_graph(team, owned, by.indices));
      expect_same(pairs, ghost_graph(team, by.ids, by.scattered));
      expect_same(pairs, ghost_graph(team, by.ids, by.scattered, by.owners));
      expect_same(pairs, ghost_graph(team, by.ascending_ids, by.indices, by.owners));
    }
  });
}

TEST(GhostLocations, a_graph_tells_the_location_of_each_ghost) {
  spmd([](team& team) {
    for (const auto& c : ghost_cases(team.size())) {
      const auto& expected = c.ghosts[static_cast<std::size_t>(team.rank())];
      const indexed_case by(c, team.rank());
      EXPECT_EQ(ghost_graph(team, by.ids, by.scattered, by.owners).locations(), expected) << c.name;
      EXPECT_EQ(ghost_graph(team, by.ids, by.scattered).locations(), expected) << c.name;
    }
  });
}

template <class Index>
std::vector<Index> as(const std::vector<std::int64_t>& indices) {
  return std::vector<Index>(indices.begin(), indices.end());
}

template <class Index>
void expect_graphs_of(team& team, const ghost_case& c) {
  const ghost_graph pairs(team, c.owned[static_cast<std::size_t>(team.rank())],
                          pairs_of(c, team.rank()));
  const indexed_case by(c, team.rank());
  const auto ids = as<Index>(by.ids), scattered = as<Index>(by.scattered);
  expect_same(pairs, ghost_graph(team, pairs.owned(), as<Index>(by.indices)));
  expect_same(pairs, ghost_graph(team, ids, scattered));
  expect_same(pairs, ghost_graph(team, std::span(ids), by.scattered, by.owners));
  expect_same(pairs, pairs.remade(pairs_of(c, team.rank())));
  expect_same(pairs, ghost_graph(team, by.ids, std::vector<Index>()).remade(scattered));
  const global_indices list(scattered);
  EXPECT_EQ(as<std::int64_t>(by.scattered),
            std::vector(list.values().begin(), list.values().end()));
  const bool is_copied = static_cast<const void*>(list.values().data()) != scattered.data();
  EXPECT_EQ(is_copied, !scattered.empty() && sizeof(Index) != sizeof(std::int64_t));
}

TEST(GhostGraph, lists_of_any_integers_are_taken) {
  spmd([](team& team) {
    const auto c = ghost_cases(team.size()).front();
    expect_graphs_of<int>(team, c);
    expect_graphs_of<unsigned>(team, c);
    expect_graphs_of<long>(team, c);
    expect_graphs_of<long long>(team, c);
    expect_graphs_of<std::size_t>(team, c);
    const bool is_last = team.rank() == team.size() - 1;
    const auto name = fmt::format("ghost 1 of rank {}", team.size() - 1);
    expect_error(team, errc::usage, {name, "index -7"}, [&] {
      (void)ghost_graph(team, 4, std::vector<int>{0, is_last ? -7 : 1});
    });
    const auto large = std::numeric_limits<std::size_t>::max();
    expect_error(team, errc::usage, {name, "index -1"}, [&] {
      (void)ghost_graph(team, 4, std::vector<std::size_t>{0, is_last ? large : 1});
    });
  });
}

// Each rank has copies of all elements of all ranks, and one rank owns most of them.
TEST(GhostLocations, owners_answer_many_ranks) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank(), large = size / 2;
    const auto owned_by = [&](int r) { return r == large ? 3000 : r % 2 == 0 ? 0 : 7 + r; };
    const auto id = [](int r, int i) { return std::int64_t{1'000'000} * (r + 1) - 17 * i; };
    std::vector<std::int64_t> ids, wanted;
    std::vector<int> owners;
    std::vector<location> expected;
    for (int i = 0; i < owned_by(rank); ++i) ids.push_back(id(rank, i));
    for (int i = 0; i < 3000; ++i)
      for (int k = 0; k < size; ++k) {
        const int r = (rank + k) % size;
        if (i >= owned_by(r)) continue;
        wanted.push_back(id(r, i));
        owners.push_back(r);
        expected.push_back({r, static_cast<std::uint64_t>(i)});
      }
    ASSERT_FALSE(wanted.empty());
    const ghost_graph graph(team, ids, wanted, owners);
    EXPECT_EQ(graph.locations(), expected);
    expect_same(graph, ghost_graph(team, ids, wanted));
  });
}

TEST(GhostGraph, wrong_ghosts_with_owners_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const int last = team.size() - 1, me = team.rank();
    const bool is_last = me == last;
    const auto name = fmt::format("rank {}", last);
    const std::vector<std::int64_t> ids{10 * me + 3, 10 * me}, ghosts{3, 0};
    const std::vector<int> owners{0, 0};
    using list = std::vector<std::int64_t>;
    const auto expect = [&](const std::vector<std::string>& words, const list& elements,
                            const list& wanted, const std::vector<int>& from) {
      expect_error(team, errc::usage, words, [&] {
        (void)ghost_graph(team, is_last ? elements : ids, is_last ? wanted : ghosts,
                          is_last ? from : owners);
      });
    };
    expect({"ghost 1 of " + name, "index 5", "rank 0 does not own"}, ids, {3, 5}, {0, 0});
    if (last > 0)
      expect({"ghost 0 of " + name, "index 3", name + " does not own"}, ids, {3, 0}, {last, 0});
    expect({"ghost 0 of " + name, "owner -1"}, ids, {3, 0}, {-1, 0});
    expect({"ghost 1 of " + name, fmt::format("owner {}:", last + 1)}, ids, {3, 0}, {0, last + 1});
    expect({name + " has 2 ghosts and 1 owners"}, ids, {3, 0}, {0});
    if (last > 0) {
      expect({"elements 0 and 2 of " + name, "same index 77"}, {77, 5, 77}, {3, 0}, {0, 0});
      expect({"element 1 of " + name, "index -4"}, {77, -4}, {3, 0}, {0, 0});
    }
    // The team can go on, and two ranks may own elements with the same index.
    const ghost_graph graph(team, list{5, 6}, list{6, 5, 6}, std::vector<int>{last, 0, 0});
    EXPECT_EQ(graph.locations(), (std::vector<location>{{last, 1}, {0, 0}, {0, 1}}));
    expect_error(team, errc::usage, {"global indices and owners"},
                 [&] { (void)graph.remade(list{5}); });
    expect_error(team, errc::usage, {"by pairs"}, [&] {
      (void)graph.remade(std::span<const location>()).remade(list{5}, std::vector<int>{last});
      (void)ghost_graph(team, 2, std::span<const location>()).remade(list{1}, std::vector<int>{0});
    });
    // Ghosts by pairs are checked by their owners in a graph of any form.
    expect_error(team, errc::usage, {"ghost 0 of " + name, "element 2 of rank 0"}, [&] {
      const std::vector<location> wrong{{0, is_last ? 2u : 1u}};
      (void)ghost_graph(team, ids, list{}).remade(std::span<const location>(wrong));
    });
  });
}

TEST(GhostGraph, an_empty_graph_and_an_empty_plan_can_be_assigned) {
  spmd([](team& team) {
    ghost_graph graph;
    ghost_exchange plan;
    const std::vector<std::int64_t> ghosts{0, 3};
    const std::vector<std::string> graph_is_empty{"ghost graph is empty"},
        plan_is_empty{"ghost plan is empty"};
    const auto expect_empty = [&] {
      EXPECT_FALSE(plan);
      expect_error(team, errc::usage, graph_is_empty, [&] { (void)graph.ghosts(); });
      expect_error(team, errc::usage, graph_is_empty, [&] { (void)graph.locations(); });
      expect_error(team, errc::usage, graph_is_empty, [&] { graph = graph.remade(ghosts); });
      expect_error(team, errc::usage, plan_is_empty, [&] { plan.update(); });
      expect_error(team, errc::usage, plan_is_empty, [&] { plan.accumulate(op::add{}); });
      expect_error(team, errc::usage, plan_is_empty, [&] { plan.assemble(op::add{}); });
      expect_error(team, errc::usage, plan_is_empty, [&] { (void)plan.test(); });
      expect_error(team, errc::usage, plan_is_empty, [&] { plan.wait(); });
      expect_error(team, errc::usage, plan_is_empty, [&] { (void)plan.moved(); });
      expect_error(team, errc::usage, plan_is_empty, [&] { (void)plan.memory_bytes(); });
      expect_error(team, errc::usage, plan_is_empty, [&] { plan.remake(graph); });
      expect_error(team, errc::usage, graph_is_empty, [&] { plan.remake(ghosts); });
    };
    expect_empty();
    std::vector<double> x(6, team.rank());
    expect_error(team, errc::usage, graph_is_empty,
                 [&] { plan = ghost_exchange(graph, {}, ghost_field(x.data(), x.data() + 4)); });
    graph = ghost_graph(team, 4, ghosts);
    plan = ghost_exchange(graph, {}, ghost_field(x.data(), x.data() + 4));
    EXPECT_TRUE(graph);
    EXPECT_TRUE(plan);
    x[0] = 7, x[3] = 8;
    plan.update();
    EXPECT_EQ(x[4], 7);
    EXPECT_EQ(x[5], 8);
    const ghost_exchange other = std::move(plan);
    const ghost_graph kept = std::move(graph);
    expect_empty();
  });
}

TEST(GhostGraph, distributions_of_arrays_own_ghosts) {
  spmd([](team& team) {
    const std::uint64_t size = 101;
    std::vector<std::int64_t> indices;
    for (std::uint64_t i = 0; i < 60; ++i)
      indices.push_back(static_cast<std::int64_t>(
          mixed(i, 1, 2, static_cast<std::uint64_t>(team.rank())) % size));
    const auto check = [&](const auto& map) {
      std::vector<location> pairs;
      for (const auto index : indices)
        pairs.push_back(map.owner_offset(static_cast<std::uint64_t>(index)));
      expect_same(ghost_graph(team, map, indices),
                  ghost_graph(team, map.local_size(team.rank()), std::span<const location>(pairs)));
    };
    check(block::map({}, size, team.size()));
    check(cyclic::map({}, size, team.size()));
    check(block_cyclic::map({.block_items = 5}, size, team.size()));
  });
}

TEST(GhostGraph, both_ways_to_learn_sources_agree) {
  spmd([](team& team) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      std::vector<int> destinations;
      for (int r = 0; r < team.size(); ++r)
        if (mixed(seed, static_cast<std::uint64_t>(team.rank()), static_cast<std::uint64_t>(r), 1) %
                3 ==
            0)
          destinations.push_back(r);
      std::vector<int> expected;
      for (int r = 0; r < team.size(); ++r)
        if (mixed(seed, static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(team.rank()), 1) %
                3 ==
            0)
          expected.push_back(r);
      using detail::announcement;
      for (const auto by :
           {announcement::automatic, announcement::collective, announcement::sparse})
        EXPECT_EQ(detail::learn_sources(team, destinations, by), expected);
    }
  });
}

TEST(GhostGraph, a_remade_graph_is_that_of_its_ghosts) {
  spmd([](team& team) {
    const auto me = static_cast<std::size_t>(team.rank());
    for (const auto& c : ghost_cases(team.size())) {
      std::int64_t size = 0;
      for (const auto owned : c.owned) size += static_cast<std::int64_t>(owned);
      std::vector<std::int64_t> first(c.owned.size() + 1), indices;
      for (std::size_t r = 0; r < c.owned.size(); ++r)
        first[r + 1] = first[r] + static_cast<std::int64_t>(c.owned[r]);
      for (const auto& ghost : c.ghosts[me])
        indices.push_back(first[static_cast<std::size_t>(ghost.rank)] +
                          static_cast<std::int64_t>(ghost.offset));
      ghost_graph graph(team, c.owned[me], indices);
      test_field<double> a(graph.owned(), indices.size() + 60);
      ghost_exchange plan(graph, {}, ghost_field(&a.at(0), &a.at(graph.owned())));
      ghost_graph asked(team, indexed_case(c, team.rank()).ascending_ids,
                        std::vector<std::int64_t>(), {});
      test_field<double> b(graph.owned(), indices.size() + 60);
      ghost_exchange by_owner(asked, {}, ghost_field(&b.at(0), &b.at(graph.owned())));
      // Changed, removed, added, reordered, none, all.
      for (int step = 0; step < 6; ++step) {
        const auto pick = [&](std::size_t i) {
          return static_cast<std::int64_t>(
              mixed(static_cast<std::uint64_t>(step), me, i, 3) %
              static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)));
        };
        if (step == 0 && !indices.empty() && me % 2 == 0) indices[indices.size() / 2] = pick(0);
        if (step == 1 && indices.size() > 4) indices.erase(indices.begin() + 2);
        if (step == 2 && size > 0)
          for (std::size_t i = 0; i < 5; ++i)
            indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(indices.size() / 3),
                           pick(i));
        if (step == 3) std::reverse(indices.begin(), indices.end());
        if (step == 4) indices.clear();
        if (step == 5 && size > 0)
          for (std::size_t i = 0; i < 40; ++i) indices.push_back(pick(i));
        graph = graph.remade(indices);
        expect_same(graph, ghost_graph(team, c.owned[me], indices));
        std::vector<int> owners;
        for (const auto& ghost : graph.locations()) owners.push_back(ghost.rank);
        asked = asked.remade(indices, owners);
        expect_same(asked, graph);
        by_owner.remake(indices, owners);
        plan.remake(indices);
        for (std::size_t i = 0; i < c.owned[me]; ++i)
          a.at(i) = static_cast<double>(first[me] + static_cast<std::int64_t>(i));
        for (std::size_t i = 0; i < c.owned[me]; ++i) b.at(i) = a.at(i);
        plan.update();
        by_owner.update();
        for (std::size_t i = 0; i < indices.size(); ++i) {
          EXPECT_EQ(a.ghost(i), static_cast<double>(indices[i]));
          EXPECT_EQ(b.ghost(i), static_cast<double>(indices[i]));
        }
      }
    }
  });
}

TEST(GhostGraph, wrong_ghosts_are_refused_on_all_ranks_with_rank_and_index) {
  spmd([](team& team) {
    const int last = team.size() - 1;
    const bool is_last = team.rank() == last;
    const auto ranks = fmt::format("rank {}", last);
    using pairs = std::vector<location>;
    const auto with_pairs = [&](const pairs& wrong) {
      const pairs list = is_last ? wrong : pairs{{0, 1}};
      return ghost_graph(team, 4, std::span<const location>(list));
    };
    expect_error(team, errc::usage, {"ghost 1 of " + ranks, "element 4 of rank 0", "4 elements"},
                 [&] {
                   (void)with_pairs({{0, 1}, {0, 4}});
                 });
    expect_error(team, errc::usage, {"ghost 0 of " + ranks, fmt::format("rank {}:", team.size())},
                 [&] {
                   (void)with_pairs({{team.size(), 0}});
                 });
    expect_error(team, errc::usage, {"ghost 0 of " + ranks, "rank -1"}, [&] {
      (void)with_pairs({{-1, 0}});
    });
    const auto with_indices = [&](std::int64_t wrong) {
      const std::vector<std::int64_t> list{0, 1, is_last ? wrong : 2};
      return ghost_graph(team, 4, list);
    };
    expect_error(team, errc::usage,
                 {"ghost 2 of " + ranks, fmt::format("index {}", 4 * team.size())},
                 [&] { (void)with_indices(4 * team.size()); });
    expect_error(team, errc::usage, {"ghost 2 of " + ranks, "index -7"},
                 [&] { (void)with_indices(-7); });
    const std::vector<std::int64_t> none;
    expect_error(team, errc::usage, {"ghost 0 of " + ranks, "index 50"}, [&] {
      const block::map map({}, 50, team.size());
      const std::vector<std::int64_t> list{is_last ? 50 : 3};
      (void)ghost_graph(team, map, list);
    });
    expect_error(team, errc::usage, {"ghost 0 of " + ranks, "index 10000", "no rank owns"}, [&] {
      const std::vector<std::int64_t> ids{10 * team.rank(), 10 * team.rank() + 5};
      const std::vector<std::int64_t> list{is_last ? 10000 : 5};
      (void)ghost_graph(team, ids, list);
    });
    expect_error(team, errc::usage, {"index 3 is owned twice", "element 1 of " + ranks}, [&] {
      const std::vector<std::int64_t> ids{team.rank() == 0 && last > 0 ? 3 : 100 + team.rank(),
                                          is_last ? 3 : 200 + team.rank(),
                                          is_last && last == 0 ? 3 : 300 + team.rank()};
      (void)ghost_graph(team, ids, none);
    });
    expect_error(team, errc::usage, {"element 0 of " + ranks, "index -2", "not be negative"}, [&] {
      const std::vector<std::int64_t> ids{is_last ? -2 : team.rank()};
      (void)ghost_graph(team, ids, none);
    });
    // The team can go on.
    const std::vector<std::int64_t> list{0, 3};
    EXPECT_EQ(ghost_graph(team, 4, list).ghosts(), 2u);
  });
}

TEST(GhostGraph, wrong_plans_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const std::vector<std::int64_t> list{0, 3};
    const ghost_graph graph(team, 4, list);
    const bool is_last = team.rank() == team.size() - 1;
    const auto name = fmt::format("rank {}", team.size() - 1);
    std::vector<double> x(6);
    std::vector<float> y(6);
    std::vector<vec3> z(6);
    const ghost_field dx(x.data(), x.data() + 4);
    const ghost_field fy(y.data(), y.data() + 4);
    expect_error(team, errc::usage, {name, "no memory for 2 ghosts"}, [&] {
      ghost_exchange(graph, {}, is_last ? ghost_field<double>(x.data(), nullptr) : dx);
    });
    if (team.size() > 1) {
      expect_error(team, errc::usage, {name, "float64 (8 bytes)", "float32 (4 bytes)"}, [&] {
        ghost_exchange(graph, {}, std::vector<ghost_memory>{is_last ? fy.memory() : dx.memory()});
      });
      expect_error(team, errc::usage, {name, "strategy standard"}, [&] {
        ghost_exchange(
            graph, {.strategy = is_last ? ghost_strategy::standard : ghost_strategy::direct}, dx);
      });
    }
    if (team.transport_name() != "mpi")
      expect_error(team, errc::unsupported, {"mpi-waitall", "needs the transport mpi"},
                   [&] { ghost_exchange(graph, {.strategy = ghost_strategy::mpi_waitall}, dx); });
    ghost_exchange plan(graph, {.accumulates = false}, dx);
    expect_error(team, errc::usage, {"made without accumulates"},
                 [&] { plan.start_accumulate(op::add{}); });
    expect_error(team, errc::usage, {"not started"}, [&] { plan.wait(); });
    plan.start_update();
    expect_error(team, errc::usage, {"in flight"}, [&] { plan.start_update(); });
    plan.wait();
    ghost_exchange vectors(graph, {}, ghost_field(z.data(), z.data() + 4));
    expect_error(team, errc::usage, {"1st field", "combine_op::of"},
                 [&] { vectors.accumulate(op::add{}); });
    expect_error(team, errc::usage, {"1st field"}, [&] {
      vectors.accumulate(combine_op::of<double>([](double& a, const double& b) { a += b; }));
    });
    expect_error(team, errc::usage, {"2 operations", "1 fields"}, [&] {
      const combine_op two[] = {op::add{}, op::add{}};
      vectors.accumulate(two);
    });
    EXPECT_EQ(from_name<ghost_strategy>("node-aware"), ghost_strategy::node_aware);
    EXPECT_THROW((void)from_name<ghost_strategy>("fast"), error);
  });
}

}  // namespace
}  // namespace longshore
