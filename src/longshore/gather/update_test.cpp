// Every strategy and operation of update on every distribution. The reference: the requests of all
// ranks, replayed one by one.
#include <longshore/core/error.hpp>
#include <longshore/gather/index_patterns_test.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>

namespace longshore {
namespace {

using testing::index_pattern;
using testing::mixed_value;
using testing::requesting_rank;
using testing::spmd;

// Values of few bits, so sums are exact in every type.
template <class T>
T small_value(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t bits = mix_bits(mix_bits(a) ^ b);
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(bits & 0x3f);
  } else {
    T several{};
    for (std::size_t k = 0; k < several.size(); ++k)
      several[k] = static_cast<typename T::value_type>((bits >> (8 * k)) & 0x3f);
    return several;
  }
}

// A user's operation for elements of several components.
struct add_components {
  template <class T>
  T operator()(const T& a, const T& b) const {
    T sum = a;
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] = static_cast<typename T::value_type>(sum[k] + b[k]);
    return sum;
  }
};

// A user's operation without identity: the value with more bits set, or else the larger value.
struct max_bits {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return std::pair(std::popcount(a), a) < std::pair(std::popcount(b), b) ? b : a;
  }
};

template <class T>
T value_of(int writer, std::size_t i) {
  return small_value<T>(100 + static_cast<std::uint64_t>(writer), i);
}
template <class T>
T first_value(std::uint64_t index) {
  return small_value<T>(7, index);
}

// Local. The elements of this rank after the requests of all ranks. `constant`: whether every rank
// updates by one constant.
template <class T, class Distribution, class Op>
std::vector<T> replayed(const dist_array<T, Distribution>& table, const index_pattern& wanted,
                        Op op, bool constant) {
  const int ranks = table.team().size(), me = table.team().rank();
  std::vector<T> right(table.local().size());
  for (std::size_t k = 0; k < right.size(); ++k)
    right[k] = first_value<T>(table.map().index_of(me, k));
  for (int writer = 0; writer < ranks; ++writer) {
    const auto indices = wanted.indices({writer, ranks, table.size()});
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const location at = table.map().owner_offset(static_cast<std::uint64_t>(indices[i]));
      if (at.rank == me)
        right[at.offset] = op(right[at.offset], value_of<T>(writer, constant ? 0 : i));
    }
  }
  return right;
}

// Indexed by index pattern, and by 0 for updates with values or 1 for updates by a constant.
template <class T>
using replays = std::vector<std::array<std::vector<T>, 2>>;

template <class T, class Distribution, class Op>
replays<T> replays_of(const dist_array<T, Distribution>& table, Op op) {
  replays<T> all;
  for (const auto& wanted : testing::index_patterns())
    all.push_back({replayed(table, wanted, op, false), replayed(table, wanted, op, true)});
  return all;
}

template <class T, class Distribution>
std::size_t wrong_elements(const dist_array<T, Distribution>& table, const std::vector<T>& right) {
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < right.size(); ++k) wrong += right[k] != table.local()[k];
  return wrong;
}

std::vector<gather_strategy> usable(const dist_array<std::int64_t, cyclic>& table) {
  return testing::usable_strategies(table.team(), table.is_all_direct(),
                                    update_plan<std::int64_t, cyclic>::why_not);
}

template <class T, class Distribution>
void refill(dist_array<T, Distribution>& table) {
  testing::fill_table(table, first_value<T>);
}

template <class T, class Distribution, class Op>
void check_plan(update_plan<T, Distribution, Op>& plan, dist_array<T, Distribution>& table,
                const replays<T>& right, const std::string& what) {
  team& team = table.team();
  const requesting_rank me{team.rank(), team.size(), table.size()};
  std::size_t updated = 0;
  for (std::size_t d = 0; d < right.size(); ++d)
    for (const bool constant : {false, true}) {
      const index_pattern& wanted = testing::index_patterns()[d];
      refill(table);
      const auto indices = wanted.indices(me);
      std::vector<T> values(indices.size());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<T>(team.rank(), i);
      if (constant)
        plan(indices, value_of<T>(team.rank(), 0));
      else
        plan(indices, values);
      team.barrier();
      ASSERT_EQ(wrong_elements(table, right[d][constant]), 0u)
          << what << ", " << wanted.name << (constant ? ", constant" : "");
      updated += indices.size();
      team.barrier();
    }
  EXPECT_GT(updated, 500u);
}

template <class T, class Op, class Distribution>
void check_all(team& team, Op op, std::uint64_t n, Distribution distribution) {
  using plan_type = update_plan<T, Distribution, Op>;
  dist_array<T, Distribution> table(team, n, distribution);
  const auto right = replays_of(table, op);
  testing::with_every_plan<update_options>(
      team, table.is_all_direct(), n, plan_type::why_not,
      [&](auto options, const std::string& name) {
        plan_type plan(table, op, options);
        check_plan(plan, table, right,
                   fmt::format("{} of {}, {} bytes, {}", Distribution::name, n, sizeof(T), name));
      });
}

TEST(Update, every_strategy_adds_each_value_once_on_every_distribution) {
  spmd([](team& team) {
    check_all<std::int64_t>(team, op::add{}, 1, cyclic{});  // on rank 0 in every distribution
    check_all<std::int64_t>(team, op::add{}, 5, block{});
    check_all<std::int64_t>(team, op::add{}, 5, block_cyclic{3});
    check_all<std::int64_t>(team, op::add{}, 300, cyclic{});
    check_all<std::int64_t>(team, op::add{}, 300, block{});
    check_all<std::int64_t>(team, op::add{}, 300, block_cyclic{3});
  });
}

TEST(Update, operations_compute_what_their_names_say) {
  EXPECT_EQ(op::bit_or{}(std::uint16_t{5}, std::uint16_t{6}), 7);
  EXPECT_EQ(op::bit_and{}(std::uint16_t{5}, std::uint16_t{6}), 4);
  EXPECT_EQ(op::bit_xor{}(5u, 6u), 3u);
  EXPECT_EQ(op::min{}(5, -6), -6);
  EXPECT_EQ(op::max{}(5, -6), 5);
  EXPECT_EQ(op::add{}(5, -6), -1);
}

TEST(Update, every_strategy_supports_every_operation) {
  spmd([](team& team) {
    check_all<std::int64_t>(team, op::min{}, 90, cyclic{});
    check_all<double>(team, op::max{}, 90, block{});
    check_all<std::uint32_t>(team, max_bits{}, 90, block{});
  });
}

TEST(Update, works_for_elements_of_any_size) {
  spmd([](team& team) {
    check_all<std::uint8_t>(team, op::add{}, 500, cyclic{});
    check_all<std::array<std::int32_t, 3>>(team, add_components{}, 500, block{});
  });
}

TEST(Update, updates_tables_larger_than_the_cache) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 300'001);
    const index_pattern many{
        "many", [](const requesting_rank& a) { return testing::random_indices(a, 5001); }};
    const requesting_rank me{team.rank(), team.size(), table.size()};
    const auto right = replayed(table, many, op::add{}, true);
    for (const auto strategy : usable(table)) {
      refill(table);
      histogram(table, many.indices(me), value_of<std::int64_t>(team.rank(), 0),
                {.strategy = strategy});
      team.barrier();
      EXPECT_EQ(wrong_elements(table, right), 0u) << name_of(strategy);
      team.barrier();
    }
  });
}

TEST(Update, the_reference_detects_a_missing_request) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 300);
    const index_pattern& wanted = testing::index_patterns()[3];
    refill(table);
    auto indices = wanted.indices({team.rank(), team.size(), 300});
    if (team.rank() == 0) indices.pop_back();
    update_plan plan(table);
    plan(indices, std::int64_t{1});
    team.barrier();
    const auto right = replayed(
        table, wanted, [](auto a, auto) { return a + 1; }, true);
    const auto wrong = static_cast<std::int64_t>(wrong_elements(table, right));
    EXPECT_EQ(team.allreduce_value(wrong, reduction::sum), 1);
    team.barrier();
  });
}

TEST(Update, an_index_out_of_range_is_reported_and_the_plan_can_be_used_again) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 1000);
    const auto right = replays_of(table, op::add{});
    for (const auto strategy : usable(table)) {
      update_plan plan(table, update_options{.strategy = strategy, .buffer_items = 32});
      const bool others_fail = plan.strategy() != gather_strategy::agp;
      testing::expect_index_errors(
          team, 1000, others_fail, "update",
          [&](const std::vector<std::int64_t>& indices) { plan(indices, std::int64_t{1}); });
      const std::vector<std::int64_t> indices = {999, 0, 17}, values = {1, 2, 3};
      testing::expect_failure(
          team, others_fail, {"update", "3 indices", "2 values"},
          [&](bool fails) { plan(indices, std::span(values).first(fails ? 2 : 3)); });
      check_plan(plan, table, right, std::string(name_of(strategy)) + " after errors");
    }
  });
}

TEST(Update, errors_of_a_histogram_name_the_histogram) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 10);
    const std::vector<std::int64_t> bad = {3, 10};
    for (const auto strategy : usable(table))
      testing::expect_failure(team, strategy != gather_strategy::agp,
                              {"histogram on rank", "index 10"}, [&](bool fails) {
                                histogram(table, std::span(bad).first(fails ? 2 : 1), 1,
                                          {.strategy = strategy, .buffer_items = 32});
                              });
  });
}

TEST(Update, impossible_options_are_refused_on_all_ranks) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 10);
    dist_array<std::array<std::int32_t, 3>, cyclic> wide(team, 10);
    const auto expect = [&](auto& of, auto op, update_options options, errc code) {
      SCOPED_TRACE(name_of(options.strategy));
      testing::expect_error(code, [&] { update_plan plan(of, op, options); });
    };
    expect(table, op::add{}, {.strategy = gather_strategy::conveyor, .hops = 4}, errc::usage);
    expect(wide, add_components{}, {.strategy = gather_strategy::agp}, errc::unsupported);
    if (team.nodes().node_count() > 1) {
      expect(table, op::add{}, {.strategy = gather_strategy::direct}, errc::unsupported);
      expect(table, op::min{}, {.strategy = gather_strategy::agp}, errc::unsupported);
    }
  });
}

TEST(Update, a_constant_sends_offsets_alone_and_combining_sends_one_item_per_element) {
  spmd([](team& team) {
    dist_array<std::int64_t, block> table(team, 100 * static_cast<std::uint64_t>(team.size()));
    const int peer = (team.rank() + 1) % team.size();
    const std::vector<std::int64_t> indices(
        50, static_cast<std::int64_t>(table.map().first_index(peer))),
        values(50, 7);
    const auto others = static_cast<std::uint64_t>(team.size() - 1);
    const auto expect_wire = [&](update_options options, std::uint64_t values_bytes,
                                 std::uint64_t count_bytes) {
      update_plan plan(table, options);
      plan(indices, values);
      EXPECT_EQ(plan.moved().messages, others);  // one round
      EXPECT_EQ(plan.moved().wire_bytes, others == 0 ? 0 : others + values_bytes);
      plan(indices, std::int64_t{3});
      EXPECT_EQ(plan.moved().wire_bytes, others == 0 ? 0 : others + count_bytes);
    };
    expect_wire({.strategy = gather_strategy::exstack, .buffer_items = 50}, 50 * (4 + 8),
                others * 8 + 50 * 4);
    expect_wire({.strategy = gather_strategy::exstack, .buffer_items = 50, .combine = true}, 4 + 8,
                4 + 8);
    for (const auto strategy : {gather_strategy::exstack2, gather_strategy::aggregator}) {
      update_plan plan(table, {.strategy = strategy, .buffer_items = 50, .combine = true});
      plan(indices, values);
      plan(indices, std::int64_t{3});
      const auto sent = plan.stats().requests;
      // A call sends one item on the first hop, which may be relayed.
      if (sent.hops.size() == 1) {
        EXPECT_EQ(sent.hops[0].items, others == 0 ? 0u : 2u);
      }
      std::uint64_t items = 0;
      for (const auto& hop : sent.hops) items += hop.items;
      EXPECT_EQ(team.allreduce_value(static_cast<std::int64_t>(items), reduction::sum) > 0,
                team.size() > 1);
      EXPECT_LE(items, 3 * 2 * static_cast<std::uint64_t>(team.size()));
    }
    team.barrier();
    EXPECT_EQ(table.local()[0], 4 * 50 * (7 + 3));
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore
