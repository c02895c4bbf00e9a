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

// Calls `make` on all ranks, which must all throw an error with the code and with all words.
template <class Make>
void expect_error(team& team, errc code, const std::vector<std::string>& words, const Make& make) {
  try {
    make();
    ADD_FAILURE() << "no error on rank " << team.rank();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    for (const auto& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what() << ": " << word;
  }
}

TEST(GhostGraph, all_forms_of_indices_give_the_same_graph) {
  spmd([](team& team) {
    for (const auto& c : ghost_cases(team.size())) {
      const auto me = static_cast<std::size_t>(team.rank());
      const ghost_graph pairs(team, c.owned[me], pairs_of(c, team.rank()));
      std::vector<std::int64_t> first(c.owned.size() + 1), indices, scattered, ids;
      for (std::size_t r = 0; r < c.owned.size(); ++r)
        first[r + 1] = first[r] + static_cast<std::int64_t>(c.owned[r]);
      const auto scatter = [](std::int64_t index) {
        return index * 7919 % 100003 + index / 100003;
      };
      for (const auto& ghost : c.ghosts[me]) {
        indices.push_back(first[static_cast<std::size_t>(ghost.rank)] +
                          static_cast<std::int64_t>(ghost.offset));
        scattered.push_back(scatter(indices.back()));
      }
      for (auto i = first[me]; i < first[me + 1]; ++i) ids.push_back(scatter(i));
      expect_same(pairs, ghost_graph(team, c.owned[me], indices));
      expect_same(pairs, ghost_graph(team, ids, scattered));
    }
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
        plan.remake(indices);
        for (std::size_t i = 0; i < c.owned[me]; ++i)
          a.at(i) = static_cast<double>(first[me] + static_cast<std::int64_t>(i));
        plan.update();
        for (std::size_t i = 0; i < indices.size(); ++i)
          EXPECT_EQ(a.ghost(i), static_cast<double>(indices[i]));
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
    expect_error(team, errc::usage, {"no field"},
                 [&] { ghost_exchange(graph, {}, std::vector<ghost_memory>{}); });
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
    expect_error(team, errc::usage, {"field 0", "combine_op::of"},
                 [&] { vectors.accumulate(op::add{}); });
    expect_error(team, errc::usage, {"field 0"}, [&] {
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
