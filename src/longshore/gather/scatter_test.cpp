// Every strategy of scatter on every distribution. The reference: the values that each element may
// have, from the requests of all ranks.
#include <longshore/core/error.hpp>
#include <longshore/gather/index_patterns_test.hpp>
#include <longshore/gather/scatter.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace longshore {
namespace {

using testing::index_pattern;
using testing::mixed_value;
using testing::requesting_rank;
using testing::spmd;

// The value that rank `writer` scatters with its i-th index.
template <class T>
T written_value(int writer, std::size_t i) {
  return mixed_value<T>(3, static_cast<std::uint64_t>(writer), i);
}
template <class T>
T untouched(std::uint64_t index) {
  return mixed_value<T>(5, index, 0);
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
std::vector<T> values_of(const requesting_rank& who, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = written_value<T>(who.rank, i);
  return values;
}

// The values that all ranks write to elements of this rank, sorted by offset. Local.
template <class T>
using writes = std::vector<std::pair<std::uint64_t, T>>;

template <class T, class Distribution>
writes<T> writes_of(const dist_array<T, Distribution>& table, const index_pattern& wanted) {
  writes<T> written;
  const int ranks = table.team().size();
  for (int writer = 0; writer < ranks; ++writer) {
    const auto indices = wanted.indices({writer, ranks, table.size()});
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const location at = table.map().owner_offset(static_cast<std::uint64_t>(indices[i]));
      if (at.rank == table.team().rank())
        written.emplace_back(at.offset, written_value<T>(writer, i));
    }
  }
  std::sort(written.begin(), written.end(),
            [](const auto& x, const auto& y) { return x.first < y.first; });
  return written;
}

// The number of elements of this rank with a value that no rank wrote to them. Local.
template <class T, class Distribution>
std::size_t wrong_elements(const dist_array<T, Distribution>& table, const writes<T>& written) {
  std::size_t wrong = 0;
  auto next = written.begin();
  for (std::size_t k = 0; k < table.local().size(); ++k) {
    const T& found = table.local()[k];
    bool is_allowed = (next == written.end() || next->first != k) &&
                      same_bytes(untouched<T>(table.map().index_of(table.team().rank(), k)), found);
    for (; next != written.end() && next->first == k; ++next)
      is_allowed = is_allowed || same_bytes(next->second, found);
    wrong += !is_allowed;
  }
  return wrong;
}

std::vector<gather_strategy> usable(const dist_array<std::int64_t, cyclic>& table) {
  return testing::usable_strategies(table.team(), table.is_all_direct(),
                                    scatter_plan<std::int64_t, cyclic>::why_not);
}

template <class T, class Distribution>
void refill_untouched(dist_array<T, Distribution>& table) {
  testing::fill_table(table, untouched<T>);
}

template <class T, class Distribution>
void check_scatter(team& team, std::uint64_t n, Distribution distribution) {
  dist_array<T, Distribution> table(team, n, distribution);
  const requesting_rank me{team.rank(), team.size(), n};
  std::vector<writes<T>> expected;
  for (const auto& wanted : testing::index_patterns()) expected.push_back(writes_of(table, wanted));
  std::size_t scattered = 0;
  testing::with_every_plan<scatter_options>(
      team, table.is_all_direct(), n, scatter_plan<T, Distribution>::why_not,
      [&](auto options, const std::string& name) {
        scatter_plan plan(table, options);
        for (std::size_t d = 0; d < expected.size(); ++d) {
          const index_pattern& wanted = testing::index_patterns()[d];
          refill_untouched(table);
          const auto indices = wanted.indices(me);
          plan(indices, values_of<T>(me, indices.size()));
          team.barrier();
          ASSERT_EQ(wrong_elements(table, expected[d]), 0u)
              << Distribution::name << " of " << n << ", " << wanted.name << ", " << sizeof(T)
              << " bytes, " << name;
          EXPECT_EQ(plan.moved().payload_bytes, indices.size() * sizeof(T));
          scattered += indices.size();
          team.barrier();
        }
      });
  EXPECT_GT(scattered, 500u);
}

TEST(Scatter, every_strategy_writes_a_value_of_some_rank_on_every_distribution) {
  spmd([](team& team) {
    check_scatter<std::int64_t>(team, 1, cyclic{});  // on rank 0 in every distribution
    check_scatter<std::int64_t>(team, 5, block{});
    check_scatter<std::int64_t>(team, 5, block_cyclic{3});
    check_scatter<std::int64_t>(team, 300, cyclic{});
    check_scatter<std::int64_t>(team, 300, block{});
    check_scatter<std::int64_t>(team, 300, block_cyclic{3});
  });
}

TEST(Scatter, works_for_elements_of_any_size) {
  spmd([](team& team) {
    check_scatter<std::uint8_t>(team, 500, cyclic{});
    check_scatter<std::array<std::uint32_t, 3>>(team, 500, block{});
  });
}

TEST(Scatter, writes_tables_larger_than_the_cache) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 300'001);
    const index_pattern many{
        "many", [](const requesting_rank& a) { return testing::random_indices(a, 5001); }};
    const requesting_rank me{team.rank(), team.size(), table.size()};
    const auto written = writes_of(table, many);
    for (const auto strategy : usable(table)) {
      refill_untouched(table);
      scatter(table, many.indices(me), values_of<std::int64_t>(me, 5001), {.strategy = strategy});
      team.barrier();
      EXPECT_EQ(wrong_elements(table, written), 0u) << name_of(strategy);
      team.barrier();
    }
  });
}

TEST(Scatter, the_reference_detects_a_value_in_the_wrong_element) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 300);
    const index_pattern& wanted = testing::index_patterns()[3];
    refill_untouched(table);
    const auto indices = wanted.indices({team.rank(), team.size(), 300});
    auto values = values_of<std::int64_t>({team.rank(), team.size(), 300}, indices.size());
    std::rotate(values.begin(), values.begin() + 1, values.end());
    scatter(table, indices, values);
    team.barrier();
    EXPECT_GT(wrong_elements(table, writes_of(table, wanted)), 0u);
    team.barrier();
  });
}

TEST(Scatter, an_index_out_of_range_is_reported_and_the_plan_can_be_used_again) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 1000);
    const requesting_rank me{team.rank(), team.size(), 1000};
    for (const auto strategy : usable(table)) {
      scatter_plan plan(table, {.strategy = strategy, .buffer_items = 32});
      const bool others_fail = plan.strategy() == gather_strategy::exstack;
      testing::expect_index_errors(team, 1000, others_fail, "scatter",
                                   [&](const std::vector<std::int64_t>& indices) {
                                     plan(indices, values_of<std::int64_t>(me, indices.size()));
                                   });
      const std::vector<std::int64_t> indices = {999, 0, 17}, values = {1, 2, 3};
      testing::expect_failure(
          team, others_fail, {"scatter", "3 indices", "2 values"},
          [&](bool fails) { plan(indices, std::span(values).first(fails ? 2 : 3)); });
      const index_pattern& wanted = testing::index_patterns()[3];
      refill_untouched(table);
      plan(wanted.indices(me), values_of<std::int64_t>(me, wanted.indices(me).size()));
      team.barrier();
      EXPECT_EQ(wrong_elements(table, writes_of(table, wanted)), 0u) << name_of(strategy);
      team.barrier();
    }
  });
}

TEST(Scatter, impossible_options_are_refused_on_all_ranks) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 10);
    dist_array<std::array<std::uint32_t, 3>, cyclic> wide(team, 10);
    const auto expect = [&](auto& into, scatter_options options, errc code) {
      SCOPED_TRACE(name_of(options.strategy));
      testing::expect_error(code, [&] { scatter_plan plan(into, options); });
    };
    expect(table, {.strategy = gather_strategy::conveyor, .hops = 4}, errc::usage);
    expect(wide, {.strategy = gather_strategy::agp}, errc::unsupported);
    if (team.nodes().node_count() > 1)
      expect(table, {.strategy = gather_strategy::direct}, errc::unsupported);
  });
}

TEST(Scatter, counts_messages_between_nodes) {
  spmd([](team& team) {
    dist_array<std::int64_t, block> table(team, 100 * static_cast<std::uint64_t>(team.size()));
    const int peer = (team.rank() + 1) % team.size();
    const std::vector<std::int64_t> indices(
        50, static_cast<std::int64_t>(table.map().first_index(peer))),
        values(50, 7);
    const bool remote = !team.nodes().is_local(peer);
    const auto others = static_cast<std::uint64_t>(team.size() - 1);

    scatter_plan one_by_one(table, {.strategy = gather_strategy::agp});
    one_by_one(indices, values);
    EXPECT_EQ(one_by_one.moved().messages, remote ? 50u : 0u);

    scatter_plan aggregated(table, {.strategy = gather_strategy::exstack, .buffer_items = 50});
    aggregated(indices, values);
    EXPECT_EQ(aggregated.moved().messages, others);  // one round
    EXPECT_EQ(aggregated.moved().wire_bytes, others == 0 ? 0 : others + 50 * (4 + 8));

    scatter_plan combined(
        table, {.strategy = gather_strategy::exstack, .buffer_items = 50, .combine = true});
    combined(indices, values);
    EXPECT_EQ(combined.moved().wire_bytes, others == 0 ? 0 : others + 1 * (4 + 8));
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore
