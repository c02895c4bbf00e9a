// The frame of the example programs: exit statuses and output. Random inputs do not depend on the
// number of ranks.
#include "example_program.hpp"

#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>

#include "random_bijection.hpp"
#include "random_inputs.hpp"
#include "serial_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

namespace examples {
namespace {

struct ending {
  int status;
  std::string out, err;
};

ending run(std::vector<const char*> words, const std::function<void(program&)>& body) {
  const description about{.name = "test_program",
                          .about = "",
                          .size_is = "",
                          .size = 12,
                          .options = graph_options({{"whole", "", "", 1, 5}})};
  words.insert(words.begin(), {"test_program", "--transport", "threads", "--repetitions", "3"});
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status =
      run_program(static_cast<int>(words.size()), const_cast<char**>(words.data()), about, body);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(example_program, metrics_and_seconds_are_printed_once) {
  std::atomic<int> calls = 0;
  const ending end = run({"--ranks", "3", "--engine", "aggregator", "--size=40"}, [&](program& p) {
    p.measure([&] { ++calls; });
    p.rate("items", p.size() + static_cast<std::uint64_t>(p.team().rank()));
    p.verify("");
  });
  EXPECT_EQ(end.status, all_right);
  EXPECT_EQ(calls, 9);
  EXPECT_EQ(std::count(end.out.begin(), end.out.end(), '\n'), 4);
  for (const char* part :
       {"test_program: repetition=2 seconds=", "test_program: ranks=3 ", " transport=threads ",
        " engine=aggregator ", " hops=3 ", " size=40 ", " median_seconds=", " items=123 ",
        " items_per_second=", " verified=yes\n"})
    EXPECT_TRUE(contains(end.out, part)) << part << " is missing in\n" << end.out;
}

TEST(example_program, a_wrong_result_on_any_rank_ends_with_a_message_and_status_1) {
  const ending end =
      run({"--ranks", "3"}, [](program& p) { p.verify(p.team().rank() == 2 ? "it rains" : ""); });
  EXPECT_EQ(end.status, wrong_result);
  EXPECT_EQ(end.err, "test_program: wrong result: it rains\n");
  EXPECT_TRUE(contains(end.out, "verified=wrong"));
}

TEST(example_program, a_result_that_was_not_verified_is_not_called_verified) {
  const ending end =
      run({"--ranks", "1", "--verify", "no"}, [](program& p) { EXPECT_FALSE(p.verifies()); });
  EXPECT_TRUE(contains(end.out, "verified=no\n"));
}

TEST(example_program, a_usage_error_names_what_is_allowed) {
  const auto never = [](program&) { ADD_FAILURE() << "was run"; };
  const auto expect = [&](std::vector<const char*> words, const char* message) {
    const ending end = run(std::move(words), never);
    EXPECT_EQ(end.status, wrong_usage);
    EXPECT_TRUE(contains(end.err, message)) << end.err;
  };
  expect({"--rank", "3"}, "there is no option --rank; there are --transport, --ranks, ");
  expect({"--ranks"}, "--ranks needs a value: a whole number from 1 to 1048576");
  expect({"--ranks", "0"}, "--ranks was given '0'; allowed: a whole number from 1");
  expect({"--whole", "2.5"}, "--whole was given '2.5'; allowed: a whole number from 1 to 5");
  expect({"--whole=6"}, "--whole was given '6'");
  expect({"--degree", "-1"}, "--degree was given '-1'; allowed: a number from 0");
  expect({"--engine", "bicycle"},
         "--engine was given 'bicycle'; allowed: exstack2, conveyor, aggregator");
  expect({"--engine", "exstack2", "--hops", "2"}, "--hops is for --engine conveyor");
}

TEST(example_program, a_failure_ends_with_status_3_and_usage_with_2) {
  const auto throws = [](longshore::errc code) {
    return [code](program&) { longshore::fail(code, "no luck"); };
  };
  EXPECT_EQ(run({"--ranks", "2"}, throws(longshore::errc::out_of_memory)).status, runtime_failure);
  EXPECT_EQ(run({"--ranks", "2"}, throws(longshore::errc::usage)).status, wrong_usage);
}

TEST(example_program, help_lists_the_options) {
  const ending end = run({"--help"}, [](program&) { ADD_FAILURE() << "was run"; });
  EXPECT_EQ(end.status, all_right);
  for (const char* part : {"--engine", "exstack2, conveyor, aggregator", "--degree", "default 10"})
    EXPECT_TRUE(contains(end.out, part));
}

TEST(random_inputs, a_bijection_maps_to_every_number_once_and_has_an_inverse) {
  for (const std::int64_t n : {1, 2, 3, 64, 65, 1000}) {
    const random_bijection f(static_cast<std::uint64_t>(n), 5);
    std::vector<std::int64_t> image;
    for (std::int64_t x = 0; x < n; ++x) {
      image.push_back(f(x));
      EXPECT_EQ(f.inverse(f(x)), x);
    }
    EXPECT_EQ(wrong_random_permutation(image), "") << n;
  }
}

sparse_matrix made_on(int ranks, const std::function<sparse_matrix(longshore::team&)>& make) {
  sparse_matrix whole;
  longshore::runtime({.transport = "threads", .ranks = ranks}).run([&](longshore::team& team) {
    sparse_matrix gathered = whole_on_rank_0(team, make(team));
    if (team.rank() == 0) whole = std::move(gathered);
  });
  return whole;
}

TEST(random_inputs, are_the_same_on_any_number_of_ranks) {
  const std::vector<std::function<sparse_matrix(longshore::team&)>> inputs = {
      [](longshore::team& team) { return random_matrix(team, 90, 70, 8, 1); },
      [](longshore::team& team) { return scrambled_triangular_matrix(team, 90, 8, 1); },
      [](longshore::team& team) { return random_graph(team, "random", 90, 8, 1); },
      [](longshore::team& team) { return random_graph(team, "geometric", 90, 8, 1); },
      [](longshore::team& team) { return random_graph(team, "kronecker", 90, 8, 1); }};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const sparse_matrix one = made_on(1, inputs[i]);
    EXPECT_GT(one.my_entries(), 90u * 4) << "input " << i;
    EXPECT_LT(one.my_entries(), 90u * 12) << "input " << i;
    EXPECT_EQ(made_on(3, inputs[i]), one) << "input " << i;
    EXPECT_EQ(made_on(7, inputs[i]), one) << "input " << i;
  }
}

TEST(random_inputs, graphs_list_every_edge_at_both_ends_and_have_no_loop) {
  for (const char* kind : {"random", "geometric", "kronecker"}) {
    const sparse_matrix graph =
        made_on(2, [&](longshore::team& team) { return random_graph(team, kind, 200, 6, 3); });
    EXPECT_EQ(wrong_transpose(graph, graph), "") << kind;
    for (std::size_t v = 0; v < graph.my_rows(); ++v) {
      const auto neighbours = graph.columns_of(v);
      EXPECT_FALSE(std::ranges::binary_search(neighbours, static_cast<std::int64_t>(v))) << kind;
      EXPECT_EQ(std::ranges::adjacent_find(neighbours), neighbours.end()) << kind;
      for (const double weight : graph.values_of(v)) EXPECT_TRUE(weight > 0 && weight <= 1) << kind;
    }
  }
}

TEST(random_inputs, a_vertex_is_that_asked_for_or_the_first_with_an_edge) {
  longshore::runtime({.transport = "threads", .ranks = 3}).run([](longshore::team& team) {
    // Row 4 is the second one of rank 1.
    const std::vector<row_entry> edges =
        team.rank() == 1 ? std::vector<row_entry>{{1, 5, 1}} : std::vector<row_entry>{};
    EXPECT_EQ(chosen_vertex(team, {7, 7, team.rank(), 3, edges}, ""), 4);
    EXPECT_EQ(chosen_vertex(team, {7, 7, team.rank(), 3, edges}, "6"), 6);
    EXPECT_EQ(chosen_vertex(team, {7, 7, team.rank(), 3, {}}, ""), 0);
    EXPECT_THROW((void)chosen_vertex(team, {7, 7, team.rank(), 3, {}}, "7"), longshore::error);
  });
}

TEST(random_inputs, geometric_graphs_join_all_points_within_reach) {
  // A longer reach adds edges and keeps the others, although the grid of cells differs.
  const auto edges = [](double degree) {
    return made_on(
        1, [&](longshore::team& team) { return random_graph(team, "geometric", 300, degree, 3); });
  };
  const sparse_matrix few = edges(5), many = edges(60);
  ASSERT_FALSE(few.values_of(0).empty());
  const double reach = *std::max_element(few.values_of(0).begin(), few.values_of(0).end());
  EXPECT_LT(few.my_entries(), many.my_entries());
  for (std::size_t v = 0; v < 300; ++v) {
    for (const std::int64_t other : few.columns_of(v))
      EXPECT_TRUE(std::ranges::binary_search(many.columns_of(v), other));
    for (std::size_t k = 0; k < many.columns_of(v).size(); ++k)
      EXPECT_TRUE(many.values_of(v)[k] > reach ||
                  std::ranges::binary_search(few.columns_of(v), many.columns_of(v)[k]));
  }
}

}  // namespace
}  // namespace examples
