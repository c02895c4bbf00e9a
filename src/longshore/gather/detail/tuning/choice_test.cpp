// Which strategies are candidates, and which of them is chosen for given times.
#include <longshore/core/error.hpp>
#include <longshore/gather/detail/tuning/choice.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace longshore::detail {
namespace {

using enum gather_strategy;

const gather_choice loads{direct}, rounds{exstack, 1024}, large_rounds{exstack, 4096},
    routed{conveyor, 1024, 2};

// One line per choice: seconds in each of the four classes; negative: not measured.
std::vector<timed_choice> measured(
    const std::vector<std::pair<gather_choice, std::array<double, request_classes>>>& table) {
  std::vector<timed_choice> rows;
  for (const auto& [choice, seconds] : table)
    for (std::size_t c = 0; c < request_classes; ++c)
      if (seconds[c] > 0) rows.push_back({choice, measured_requests[c], seconds[c], 5});
  return rows;
}

TEST(Choice, a_number_of_requests_belongs_to_the_class_with_the_nearest_ratio) {
  for (std::size_t c = 0; c < request_classes; ++c)
    EXPECT_EQ(request_class_of(measured_requests[c]), c);
  EXPECT_EQ(request_class_of(0), 0u);
  EXPECT_EQ(request_class_of(3162), 0u);
  EXPECT_EQ(request_class_of(3163), 1u);
  EXPECT_EQ(request_class_of(316'227), 2u);
  EXPECT_EQ(request_class_of(316'228), 3u);
  EXPECT_EQ(request_class_of(std::size_t{1} << 60), 3u);
}

TEST(Choice, nothing_measured_gives_no_choice) { EXPECT_FALSE(choices_for_all_sizes({})); }

TEST(Choice, a_choice_that_is_fastest_in_all_classes_is_taken_for_all) {
  const auto chosen = choices_for_all_sizes(
      measured({{loads, {1, 1, 1, 1}}, {rounds, {0.5, 0.6, 0.7, 0.5}}, {routed, {2, 2, 2, 2}}}));
  EXPECT_EQ(chosen, (choices_by_size{rounds, rounds, rounds, rounds}));
}

TEST(Choice, of_two_equally_fast_choices_the_simpler_is_taken) {
  EXPECT_EQ(
      choices_for_all_sizes(measured({{routed, {1, 1, 1, 1}}, {rounds, {1.03, 1.02, 1.03, 1}}})),
      (choices_by_size{rounds, rounds, rounds, rounds}));
  EXPECT_EQ(choices_for_all_sizes(measured(
                {{large_rounds, {1, 1, 1, 1}}, {rounds, {1, 1, 1, 1}}, {loads, {1, 1, 1, 1}}})),
            (choices_by_size{loads, loads, loads, loads}));
  EXPECT_EQ(choices_for_all_sizes(measured({{routed, {1, 1, 1, 1}}, {rounds, {1.06, 1, 1.06, 1}}})),
            (choices_by_size{routed, routed, routed, routed}));
}

TEST(Choice, of_the_buffers_of_a_strategy_the_fastest_are_taken) {
  EXPECT_EQ(choices_for_all_sizes(
                measured({{rounds, {1.02, 1.02, 1.02, 1.02}}, {large_rounds, {1, 1, 1, 1}}})),
            (choices_by_size{large_rounds, large_rounds, large_rounds, large_rounds}));
}

TEST(Choice, as_few_different_choices_as_possible_are_taken) {
  EXPECT_EQ(
      choices_for_all_sizes(measured({{rounds, {1, 1, 1, 1.04}}, {large_rounds, {2, 1, 1, 1}}})),
      (choices_by_size{rounds, rounds, rounds, rounds}));
  EXPECT_EQ(
      choices_for_all_sizes(measured({{rounds, {1, 1, 1.5, 1.5}}, {large_rounds, {2, 1.2, 1, 1}}})),
      (choices_by_size{rounds, rounds, large_rounds, large_rounds}));
  EXPECT_EQ(
      choices_for_all_sizes(measured({{rounds, {1, 1.5, 1.5, 2}}, {large_rounds, {2, 1, 1, 1}}})),
      (choices_by_size{rounds, large_rounds, large_rounds, large_rounds}));
  EXPECT_EQ(choices_for_all_sizes(measured(
                {{rounds, {1, 2, 2, 2}}, {large_rounds, {2, 1, 1, 2}}, {routed, {2, 2, 1.2, 1}}})),
            (choices_by_size{rounds, large_rounds, large_rounds, routed}));
  EXPECT_EQ(choices_for_all_sizes(measured({{loads, {1, 2, 2, 2}},
                                            {rounds, {2, 1, 2, 2}},
                                            {large_rounds, {2, 2, 1, 2}},
                                            {routed, {2, 2, 2, 1}}})),
            (choices_by_size{loads, rounds, large_rounds, routed}));
}

TEST(Choice, a_choice_that_was_not_measured_in_a_class_is_not_taken_for_it) {
  EXPECT_EQ(
      choices_for_all_sizes(measured({{rounds, {1, 1, 1, -1}}, {large_rounds, {3, 3, 3, 7}}})),
      (choices_by_size{rounds, rounds, rounds, large_rounds}));
}

TEST(Choice, a_class_without_measurements_follows_its_neighbour) {
  EXPECT_EQ(
      choices_for_all_sizes(measured({{rounds, {2, -1, -1, -1}}, {large_rounds, {1, -1, -1, -1}}})),
      (choices_by_size{large_rounds, large_rounds, large_rounds, large_rounds}));
  EXPECT_EQ(
      choices_for_all_sizes(measured({{rounds, {1, 2, -1, -1}}, {large_rounds, {2, 1, -1, -1}}})),
      (choices_by_size{rounds, large_rounds, large_rounds, large_rounds}));
}

TEST(Choice, for_a_known_number_of_requests_times_are_interpolated) {
  // At 10'000 and at 100'000 requests others are best than in between: lines cross at 19'000.
  const auto times = measured({{rounds, {1, 1, 11, -1}}, {loads, {1, 1.9, 2.9, -1}}});
  EXPECT_EQ(choice_for_requests(times, 10'000), rounds);
  EXPECT_EQ(choice_for_requests(times, 12'000), rounds);
  EXPECT_EQ(choice_for_requests(times, 30'000), loads);
  EXPECT_EQ(choice_for_requests(times, 100'000), loads);
  EXPECT_FALSE(choice_for_requests({}, 1000));
  // A choice that was dropped before the larger number does not count.
  EXPECT_EQ(
      choice_for_requests(measured({{rounds, {1, 1, -1, -1}}, {loads, {2, 2, 3, -1}}}), 20'000),
      loads);
}

TEST(Choice, outside_of_the_measured_numbers_of_requests_the_nearest_one_decides) {
  // Either choice costs 4.5 % at most, so one would serve all numbers if none was known.
  const auto times = measured({{rounds, {1, 1, 1, 1.045}}, {loads, {1.045, 1, 1, 1}}});
  EXPECT_EQ(choice_for_requests(times, 500), rounds);
  EXPECT_EQ(choice_for_requests(times, 10'000'000), loads);
}

TEST(Choice, without_measurements_direct_is_taken_if_all_memory_is_reachable) {
  EXPECT_EQ(rule_choice({.ranks = 4, .nodes = 1, .node_ranks = 4, .all_reachable = true}), loads);
  EXPECT_EQ(rule_choice({.ranks = 4, .nodes = 2, .node_ranks = 2, .all_reachable = false}), rounds);
  EXPECT_EQ(rule_choice({.ranks = 4, .nodes = 2, .node_ranks = 2, .all_reachable = false}, 64),
            (gather_choice{exstack, 64}));
}

TEST(Choice, candidates_are_possible_in_the_layout_and_fit_into_memory) {
  constexpr std::size_t memory = std::size_t{64} << 20;
  const auto has = [](const std::vector<gather_choice>& all, gather_strategy strategy,
                      int hops = 0) {
    return std::any_of(all.begin(), all.end(), [=](const gather_choice& one) {
      return one.strategy == strategy && one.hops == hops;
    });
  };
  const auto together = candidates({2, 1, 2, true}, 8, memory, why_not);
  EXPECT_TRUE(has(together, direct));
  EXPECT_EQ(together.front(), loads);
  EXPECT_FALSE(has(together, aggregator));
  EXPECT_FALSE(has(together, conveyor, 2));
  const auto apart = candidates({8, 4, 2, false}, 8, memory, why_not);
  EXPECT_FALSE(has(apart, direct));
  EXPECT_TRUE(has(apart, agp) && has(apart, exstack) && has(apart, exstack2) &&
              has(apart, conveyor, 2));
  EXPECT_FALSE(has(apart, conveyor, 3) || has(apart, aggregator));
  const auto many = candidates({9216, 256, 36, false}, 8, memory, why_not);
  EXPECT_TRUE(has(many, conveyor, 3) && has(many, conveyor, 2) && has(many, aggregator));
  EXPECT_FALSE(std::find(many.begin(), many.end(), rounds) != many.end()) << "577 MiB of buffers";
}

}  // namespace
}  // namespace longshore::detail
