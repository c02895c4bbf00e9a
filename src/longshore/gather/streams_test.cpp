// scatterer, updater and gatherer. Elements are functions of their index, and every update counts
// once.
#include <longshore/core/error.hpp>
#include <longshore/gather/index_patterns_test.hpp>
#include <longshore/gather/streams.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

// Counts the allocations of this thread, since streams must not allocate. All forms of new and
// delete are replaced together, because a program may mix them.
static thread_local std::size_t allocations = 0;
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* const memory = ::operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace longshore {
namespace {

using testing::mixed_value;
using testing::requesting_rank;
using testing::spmd;

// Collective. Calls body(table, options) for several tables, engines and buffers.
template <class Body>
void for_each_table(team& team, const Body& body) {
  const auto with = [&](std::uint64_t n, auto distribution, const element_stream_options& options) {
    SCOPED_TRACE(fmt::format("{} of {}, {} with {} hops and buffers of {}",
                             decltype(distribution)::name, n, name_of(options.strategy),
                             options.hops, options.buffer_items));
    dist_array<std::int64_t, decltype(distribution)> table(team, n, distribution);
    body(table, options);
    team.barrier();
  };
  using enum gather_strategy;
  with(1, block{}, {.buffer_items = 7});
  with(300, cyclic{}, {.buffer_items = 7, .strategy = aggregator});
  with(300, block{}, {.hops = 3});
  with(64, block_cyclic{3}, {.buffer_items = 1, .strategy = exstack2});
}

// How often all ranks together access element `index`.
std::int64_t accesses_of(const testing::index_pattern& wanted, int ranks, std::uint64_t n,
                         std::uint64_t index) {
  std::int64_t count = 0;
  for (int rank = 0; rank < ranks; ++rank)
    for (const auto accessed : wanted.indices({rank, ranks, n}))
      count += static_cast<std::uint64_t>(accessed) == index;
  return count;
}

TEST(Updater, counts_every_item_once_over_several_epochs) {
  spmd([](team& team) {
    for_each_table(team, [&](auto& table, const element_stream_options& options) {
      updater add(table, op::add{}, options);
      for (const auto& wanted : testing::index_patterns()) {
        SCOPED_TRACE(wanted.name);
        std::fill(table.local().begin(), table.local().end(), 0);
        team.barrier();
        const auto indices = wanted.indices({team.rank(), team.size(), table.size()});
        // Without a barrier, the next epoch of a fast rank overlaps the last epoch of a slow rank.
        for (int epoch = 0; epoch < 3; ++epoch) {
          for (const auto index : indices) add.update(index, epoch + 1);
          add.flush();
        }
        team.barrier();
        testing::for_each_local_element(table, [&](auto count, std::uint64_t index) {
          ASSERT_EQ(count, (1 + 2 + 3) * accesses_of(wanted, team.size(), table.size(), index))
              << index;
        });
      }
    });
  });
}

TEST(Scatterer, every_element_has_a_value_that_some_rank_wrote_to_it) {
  spmd([](team& team) {
    for_each_table(team, [&](auto& table, const element_stream_options& options) {
      scatterer into(table, options);
      for (const auto& wanted : testing::index_patterns()) {
        SCOPED_TRACE(wanted.name);
        std::fill(table.local().begin(), table.local().end(), -1);
        team.barrier();
        for (const auto index : wanted.indices({team.rank(), team.size(), table.size()}))
          into.copy(index, index * team.size() + team.rank());
        into.flush();
        team.barrier();
        for (std::size_t k = 0; k < table.local().size(); ++k) {
          const auto index = static_cast<std::int64_t>(table.map().index_of(team.rank(), k));
          const std::int64_t found = table.local()[k];  // index * ranks + the writer's rank
          if (accesses_of(wanted, team.size(), table.size(), static_cast<std::uint64_t>(index)) ==
              0) {
            ASSERT_EQ(found, -1) << index;
            continue;
          }
          ASSERT_EQ(found / team.size(), index) << found;
          const auto indices_of_writer =
              wanted.indices({static_cast<int>(found % team.size()), team.size(), table.size()});
          ASSERT_NE(std::find(indices_of_writer.begin(), indices_of_writer.end(), index),
                    indices_of_writer.end())
              << found << " for " << index;
        }
      }
    });
  });
}

TEST(Gatherer, every_output_gets_its_element_over_several_epochs) {
  spmd([](team& team) {
    for_each_table(team, [&](auto& table, const element_stream_options& options) {
      testing::fill_table(table, [](auto i) { return -static_cast<std::int64_t>(i) - 1; });
      gatherer from(table, options);
      for (const auto& wanted : testing::index_patterns())
        for (int epoch = 0; epoch < 2; ++epoch) {
          const auto indices = wanted.indices({team.rank(), team.size(), table.size()});
          std::vector<std::int64_t> out(indices.size());
          for (std::size_t i = 0; i < indices.size(); ++i) from.copy(&out[i], indices[i]);
          from.flush();
          for (std::size_t i = 0; i < indices.size(); ++i)
            ASSERT_EQ(out[i], -indices[i] - 1) << wanted.name << ", " << i << " in epoch " << epoch;
        }
    });
  });
}

TEST(Streams, carry_elements_of_any_size) {
  spmd([](team& team) {
    const auto check = [&]<class T>(T) {
      dist_array<T, cyclic> table(team, 500);
      const auto value = [](std::int64_t index) {
        return mixed_value<T>(static_cast<std::uint64_t>(index), 1, 2);
      };
      scatterer into(table, {.buffer_items = 16});
      for (std::int64_t i = team.rank(); i < 500; i += team.size())
        into.copy(499 - i, value(499 - i));
      into.flush();
      team.barrier();
      gatherer from(table, {.buffer_items = 16});
      std::vector<T> out(1000);
      for (std::int64_t i = 0; i < 1000; ++i)
        from.copy(&out[static_cast<std::size_t>(i)], i * 7 % 500);
      from.flush();
      for (std::int64_t i = 0; i < 1000; ++i) {
        const T right = value(i * 7 % 500);
        ASSERT_EQ(std::memcmp(&out[static_cast<std::size_t>(i)], &right, sizeof(T)), 0) << i;
      }
      team.barrier();
    };
    check(std::uint8_t{});
    check(std::int16_t{});
    check(std::array<std::uint32_t, 3>{});
    check(std::array<std::uint64_t, 3>{});
  });
}

TEST(Streams, an_index_out_of_range_is_reported_and_the_stream_can_be_used_again) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 100);
    updater add(table);
    for (const std::int64_t bad : {100, -1}) {
      try {
        add.update(bad, 1);
        ADD_FAILURE() << bad;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::usage);
        EXPECT_NE(std::string(e.what()).find(std::to_string(bad)), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("updater"), std::string::npos) << e.what();
      }
    }
    add.update(99, 5);
    add.flush();
    team.barrier();
    const location last = table.map().owner_offset(99);
    EXPECT_TRUE(last.rank != team.rank() || table.local()[last.offset] == 5 * team.size());
    team.barrier();
  });
}

TEST(Streams, refuse_synchronous_engines_and_invalid_options) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 10);
    const auto expect = [&](const element_stream_options& options, errc code) {
      testing::expect_error(code, [&] { updater add(table, op::add{}, options); });
    };
    expect({.strategy = gather_strategy::exstack}, errc::unsupported);
    expect({.buffer_items = 0}, errc::usage);
    expect({.hops = 4}, errc::usage);
  });
}

TEST(Streams, allocate_nothing_after_construction_and_have_stats) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 100 * static_cast<std::uint64_t>(team.size()));
    std::fill(table.local().begin(), table.local().end(), 1);
    team.barrier();
    updater add(table, op::add{}, {.buffer_items = 8});
    gatherer from(table, {.buffer_items = 8});
    std::vector<std::int64_t> out(500);
    // Each rank accesses the rank after it.
    const auto index = [&](std::size_t i) {
      return static_cast<std::int64_t>(i % 100) * team.size() + (team.rank() + 1) % team.size();
    };
    std::size_t allocated = 0;
    for (int epoch = 0; epoch < 3; ++epoch) {
      const std::size_t before = allocations;
      for (std::size_t i = 0; i < out.size(); ++i) add.update(index(i), 1);
      add.flush();
      // Only the last epoch counts, since the first epoch may grow lists of the transport.
      allocated = allocations - before;
      team.barrier();
      const std::size_t between = allocations;
      for (std::size_t i = 0; i < out.size(); ++i) from.copy(&out[i], index(i));
      from.flush();
      allocated += allocations - between;
      for (const auto value : out) ASSERT_EQ(value, 1 + 5 * (epoch + 1));
      team.barrier();
    }
    // The thread of simulated ranks also allocates for the other ranks, and for their messages.
    if (team.costs() == nullptr) {
      EXPECT_EQ(allocated, 0u);
    }
    EXPECT_GT(allocations, 0u) << "allocations are not counted";

    const exchange_stats added = add.stats(), gathered = from.stats();
    const bool to_others = team.size() > 1;
    ASSERT_EQ(added.requests.hops.size(), gathered.replies.hops.size());
    EXPECT_TRUE(added.replies.hops.empty());
    // An item leaves its rank once, over one of the hops, and may be relayed.
    const auto sum = [&](const engine_stats& stats) {
      std::uint64_t items = 0;
      for (const auto& hop : stats.hops) items += hop.items;
      return team.allreduce_value(static_cast<std::int64_t>(items), reduction::sum);
    };
    const std::int64_t pushed = to_others ? 3 * 500 * static_cast<std::int64_t>(team.size()) : 0;
    EXPECT_GE(sum(added.requests), pushed);
    EXPECT_LE(sum(added.requests), 2 * pushed);
    // Elements that could be loaded were not requested.
    const std::int64_t expected = team.allreduce_value<std::int64_t>(
        team.nodes().is_local((team.rank() + 1) % team.size()) ? 0 : 3 * 500, reduction::sum);
    EXPECT_GE(sum(gathered.requests), expected);
    EXPECT_GE(sum(gathered.replies), expected);
    EXPECT_EQ(sum(gathered.replies) == 0, expected == 0);
  });
}

}  // namespace
}  // namespace longshore
