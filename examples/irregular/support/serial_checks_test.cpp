// Each check of the example programs accepts a correct result, found by hand, and names the error
// in wrong ones.
#include "serial_checks.hpp"

#include <longshore/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace examples {
namespace {

constexpr double far = std::numeric_limits<double>::infinity();

// A matrix that is whole on one rank.
sparse_matrix matrix_of(std::uint64_t rows, std::uint64_t columns,
                        const std::vector<row_entry>& entries) {
  return {rows, columns, 0, 1, entries};
}

sparse_matrix graph_of(std::uint64_t vertices, const std::vector<row_entry>& edges) {
  std::vector<row_entry> both = edges;
  for (const row_entry& e : edges)
    both.push_back(
        {static_cast<std::uint64_t>(e.column), static_cast<std::int64_t>(e.offset), e.value});
  return matrix_of(vertices, vertices, both);
}

void expect_problem(const std::string& found, const char* part) {
  EXPECT_NE(found.find(part), std::string::npos)
      << "expected a problem with '" << part << "', found: '" << found << "'";
}

TEST(serial_checks, rows_of_a_matrix_are_in_the_order_of_their_columns) {
  // rows 1 and 3 of 5
  const sparse_matrix m(5, 9, 1, 2, std::vector<row_entry>{{1, 8, 0.1}, {0, 4, 0.2}, {1, 3, 0.3}});
  ASSERT_EQ(m.my_rows(), 2u);
  EXPECT_EQ(m.row_number(1), 3);
  EXPECT_EQ(std::vector<std::int64_t>(m.columns_of(1).begin(), m.columns_of(1).end()),
            (std::vector<std::int64_t>{3, 8}));
  EXPECT_EQ(std::vector<double>(m.values_of(1).begin(), m.values_of(1).end()),
            (std::vector<double>{0.3, 0.1}));
  sparse_matrix::walk walk(m);
  EXPECT_EQ(walk(0).column, 4);
  EXPECT_EQ(walk(2).column, 8);
  EXPECT_EQ(walk(2).row, 3);
  const sparse_matrix heavy = m.with_values(0.2, 0.3);
  ASSERT_EQ(heavy.my_entries(), 1u);
  EXPECT_EQ(heavy.columns_of(1)[0], 3);
}

TEST(serial_checks, a_permutation_has_every_number_once_and_is_random) {
  EXPECT_EQ(wrong_random_permutation({}), "");
  EXPECT_EQ(wrong_random_permutation(std::vector<std::int64_t>{1, 0, 2}), "");
  expect_problem(wrong_random_permutation(std::vector<std::int64_t>{1, 0, 1}), "element 2 is 1");
  expect_problem(wrong_random_permutation(std::vector<std::int64_t>{1, 0, 3}), "outside");
  expect_problem(wrong_random_permutation(std::vector<std::int64_t>{1, -1, 0}), "outside");
  std::vector<std::int64_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  expect_problem(wrong_random_permutation(numbers), "not random");
  std::reverse(numbers.begin(), numbers.end());
  expect_problem(wrong_random_permutation(numbers), "not random");
  longshore::random_stream random(1);
  longshore::shuffle(std::span(numbers), random);
  EXPECT_EQ(wrong_random_permutation(numbers), "");
}

TEST(serial_checks, a_transpose_is_compared_entry_by_entry) {
  const sparse_matrix m = matrix_of(2, 3, {{0, 2, 0.5}, {1, 0, 0.25}});
  EXPECT_EQ(wrong_transpose(m, matrix_of(3, 2, {{2, 0, 0.5}, {0, 1, 0.25}})), "");
  expect_problem(wrong_transpose(m, m), "2 x 3 instead of 3 x 2");
  expect_problem(wrong_transpose(m, matrix_of(3, 2, {{2, 0, 0.5}})), "row 0");
  expect_problem(wrong_transpose(m, matrix_of(3, 2, {{2, 1, 0.5}, {0, 1, 0.25}})), "row 2");
  expect_problem(wrong_transpose(m, matrix_of(3, 2, {{2, 0, 0.5}, {0, 1, 0.75}})),
                 "row 0 has other values");
}

TEST(serial_checks, a_permuted_matrix_is_compared_entry_by_entry) {
  const sparse_matrix m = matrix_of(2, 3, {{0, 2, 0.5}, {1, 0, 0.25}});
  const std::vector<std::int64_t> p = {1, 0}, q = {1, 2, 0};
  EXPECT_EQ(wrong_permuted_matrix(m, p, q, matrix_of(2, 3, {{1, 0, 0.5}, {0, 1, 0.25}})), "");
  expect_problem(wrong_permuted_matrix(m, p, q, m), "row 0");
  expect_problem(wrong_permuted_matrix(m, p, q, matrix_of(2, 3, {{1, 1, 0.5}, {0, 1, 0.25}})),
                 "row 1");
}

TEST(serial_checks, a_topological_order_is_triangular_with_a_full_diagonal) {
  // Row 2 has column 0 alone; row 0 has columns 0 and 1; row 1 has all.
  const sparse_matrix m =
      matrix_of(3, 3, {{2, 0, 1}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}, {1, 2, 1}});
  const std::vector<std::int64_t> rows = {1, 0, 2}, columns = {2, 1, 0};
  EXPECT_EQ(wrong_topological_order(m, rows, columns, 3), "");
  EXPECT_EQ(wrong_topological_order(matrix_of(0, 0, {}), {}, {}, 0), "");
  expect_problem(wrong_topological_order(m, rows, columns, 2),
                 "2 levels of pivots were found instead of 3");
  expect_problem(wrong_topological_order(m, std::vector<std::int64_t>{0, 1, 2}, columns, 3),
                 "below the diagonal");
  expect_problem(wrong_topological_order(m, std::vector<std::int64_t>{1, 1, 2}, columns, 3),
                 "occurred before");
  expect_problem(wrong_topological_order(m, rows, std::vector<std::int64_t>{2, 2, 0}, 3),
                 "occurred before");
  expect_problem(wrong_topological_order(m, rows, std::vector<std::int64_t>{2, 1}, 3), "2 columns");
  expect_problem(
      wrong_topological_order(matrix_of(2, 2, {{0, 1, 1}, {1, 1, 1}}),
                              std::vector<std::int64_t>{0, 1}, std::vector<std::int64_t>{0, 1}, 2),
      "no entry on the diagonal");
}

TEST(serial_checks, triangles_are_counted_once) {
  EXPECT_EQ(count_triangles_serially(graph_of(0, {})), 0);
  EXPECT_EQ(count_triangles_serially(graph_of(4, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}})), 0);
  EXPECT_EQ(count_triangles_serially(graph_of(4, {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {2, 3, 1}})), 1);
  std::vector<row_entry> all;
  for (std::uint64_t a = 0; a < 7; ++a)
    for (std::int64_t b = 0; b < static_cast<std::int64_t>(a); ++b) all.push_back({a, b, 1});
  EXPECT_EQ(count_triangles_serially(graph_of(7, all)), 35);
}

TEST(serial_checks, distances_are_those_of_the_shortest_paths) {
  const sparse_matrix g = graph_of(4, {{0, 1, 0.5}, {1, 2, 0.25}, {0, 2, 1}});
  EXPECT_EQ(serial_shortest_paths(g, 0), (std::vector<double>{0, 0.5, 0.75, far}));
  EXPECT_EQ(wrong_distances(g, 0, std::vector<double>{0, 0.5, 0.75, far}), "");
  expect_problem(wrong_distances(g, 0, std::vector<double>{0, 0.5, 1, far}), "vertex 2");
  expect_problem(wrong_distances(g, 0, std::vector<double>{0, 0.5, 0.75, 9}), "vertex 3");
  expect_problem(wrong_distances(g, 2, std::vector<double>{0, 0.5, 0.75, far}), "vertex 0");
  expect_problem(wrong_distances(g, 0, std::vector<double>{0, 0.5, 0.75}),
                 "3 distances for 4 vertices");
}

}  // namespace
}  // namespace examples
