#include "serial_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace examples {
namespace {

// The first error in the positions of a permutation, or an empty string.
std::string wrong_positions(const char* of, std::span<const std::int64_t> positions) {
  std::vector<bool> taken(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] < 0 || static_cast<std::size_t>(positions[i]) >= positions.size())
      return fmt::format("{} {} of {} is {}, which is outside the range", of, i, positions.size(),
                         positions[i]);
    if (taken[positions[i]])
      return fmt::format("{} {} is {}, which occurred before", of, i, positions[i]);
    taken[positions[i]] = true;
  }
  return {};
}

std::string difference(const sparse_matrix& expected, const sparse_matrix& found) {
  if (expected.rows() != found.rows() || expected.columns() != found.columns())
    return fmt::format("{} x {} instead of {} x {}", found.rows(), found.columns(), expected.rows(),
                       expected.columns());
  for (std::size_t row = 0; row < expected.my_rows(); ++row) {
    if (!std::ranges::equal(expected.columns_of(row), found.columns_of(row)))
      return fmt::format(
          "row {} has {} entries, in other columns than those of the serial run ({} entries)", row,
          found.columns_of(row).size(), expected.columns_of(row).size());
    if (!std::ranges::equal(expected.values_of(row), found.values_of(row)))
      return fmt::format("row {} has other values than the serial run", row);
  }
  return {};
}

// Calls f(row, column, value) for each entry of a matrix that is whole on one rank.
void for_each_entry(const sparse_matrix& matrix,
                    const std::function<void(std::size_t, std::int64_t, double)>& f) {
  for (std::size_t row = 0; row < matrix.my_rows(); ++row)
    for (std::size_t k = 0; k < matrix.columns_of(row).size(); ++k)
      f(row, matrix.columns_of(row)[k], matrix.values_of(row)[k]);
}

}  // namespace

std::string wrong_random_permutation(std::span<const std::int64_t> permutation) {
  if (auto wrong = wrong_positions("element", permutation); !wrong.empty()) return wrong;
  const auto n = static_cast<double>(permutation.size());
  if (n < 100) return {};
  double footrule = 0;
  for (std::size_t i = 0; i < permutation.size(); ++i)
    footrule += std::abs(static_cast<double>(permutation[i]) - static_cast<double>(i));
  const double mean = (n * n - 1) / 3, deviation = std::sqrt((n + 1) * (2 * n * n + 7) / 45);
  if (std::abs(footrule - mean) > 7 * deviation)
    return fmt::format(
        "the permutation is not random: elements move by {:.6g} positions on average; in random "
        "permutations by {:.6g}",
        footrule / n, mean / n);
  return {};
}

std::string wrong_transpose(const sparse_matrix& matrix, const sparse_matrix& transpose) {
  std::vector<row_entry> mirrored;
  for_each_entry(matrix, [&](std::size_t row, std::int64_t column, double value) {
    mirrored.push_back({static_cast<std::uint64_t>(column), static_cast<std::int64_t>(row), value});
  });
  return difference({matrix.columns(), matrix.rows(), 0, 1, mirrored}, transpose);
}

std::string wrong_permuted_matrix(const sparse_matrix& matrix,
                                  std::span<const std::int64_t> row_position,
                                  std::span<const std::int64_t> column_position,
                                  const sparse_matrix& permuted) {
  std::vector<row_entry> moved;
  for_each_entry(matrix, [&](std::size_t row, std::int64_t column, double value) {
    moved.push_back(
        {static_cast<std::uint64_t>(row_position[row]), column_position[column], value});
  });
  return difference({matrix.rows(), matrix.columns(), 0, 1, moved}, permuted);
}

std::string wrong_topological_order(const sparse_matrix& matrix,
                                    std::span<const std::int64_t> row_position,
                                    std::span<const std::int64_t> column_position,
                                    std::int64_t levels) {
  if (row_position.size() != matrix.rows() || column_position.size() != matrix.columns())
    return fmt::format("positions for {} rows and {} columns, but the matrix has {} and {}",
                       row_position.size(), column_position.size(), matrix.rows(),
                       matrix.columns());
  if (auto wrong = wrong_positions("the position of row", row_position); !wrong.empty())
    return wrong;
  if (auto wrong = wrong_positions("the position of column", column_position); !wrong.empty())
    return wrong;
  const std::size_t n = row_position.size();
  std::vector<std::size_t> row_at(n), column_at(n);
  for (std::size_t i = 0; i < n; ++i) row_at[row_position[i]] = column_at[column_position[i]] = i;
  // From the last row up: the level of a row is one more than the highest level among the rows of
  // its entries beyond the diagonal.
  std::vector<std::int64_t> level(n);
  std::int64_t highest = n == 0 ? 0 : 1;
  for (std::size_t position = n; position-- > 0;) {
    bool has_diagonal = false;
    level[position] = 1;
    for (const std::int64_t column : matrix.columns_of(row_at[position])) {
      const auto at = static_cast<std::size_t>(column_position[column]);
      if (at < position)
        return fmt::format("row {} at position {} has an entry at position {}: below the diagonal",
                           row_at[position], position, at);
      has_diagonal = has_diagonal || at == position;
      if (at > position) level[position] = std::max(level[position], level[at] + 1);
    }
    if (!has_diagonal)
      return fmt::format("row {} at position {} has no entry on the diagonal", row_at[position],
                         position);
    highest = std::max(highest, level[position]);
  }
  if (levels != highest)
    return fmt::format("{} levels of pivots were found instead of {}", levels, highest);
  return {};
}

std::int64_t count_triangles_serially(const sparse_matrix& graph) {
  std::int64_t shared = 0;  // 6 per triangle: three edges, each in two rows
  for_each_entry(graph, [&](std::size_t a, std::int64_t b, double) {
    const auto of_a = graph.columns_of(a), of_b = graph.columns_of(static_cast<std::size_t>(b));
    for (auto x = of_a.begin(), y = of_b.begin(); x != of_a.end() && y != of_b.end();)
      if (*x < *y)
        ++x;
      else if (*y < *x)
        ++y;
      else
        ++shared, ++x, ++y;
  });
  return shared / 6;
}

std::vector<double> serial_shortest_paths(const sparse_matrix& graph, std::int64_t source) {
  std::vector<double> distance(graph.rows(), std::numeric_limits<double>::infinity());
  using reached = std::pair<double, std::int64_t>;
  std::priority_queue<reached, std::vector<reached>, std::greater<>> next;
  if (static_cast<std::uint64_t>(source) < graph.rows()) next.push({distance[source] = 0, source});
  while (!next.empty()) {
    const auto [at, v] = next.top();
    next.pop();
    if (at > distance[v]) continue;
    for (std::size_t k = 0; k < graph.columns_of(v).size(); ++k)
      if (const double to = at + graph.values_of(v)[k]; to < distance[graph.columns_of(v)[k]])
        next.push({distance[graph.columns_of(v)[k]] = to, graph.columns_of(v)[k]});
  }
  return distance;
}

std::string wrong_distances(const sparse_matrix& graph, std::int64_t source,
                            std::span<const double> distances) {
  const std::vector<double> expected = serial_shortest_paths(graph, source);
  if (distances.size() != expected.size())
    return fmt::format("{} distances for {} vertices", distances.size(), expected.size());
  for (std::size_t v = 0; v < expected.size(); ++v)
    if (distances[v] != expected[v])
      return fmt::format("vertex {} has distance {}, but {} in the serial run", v, distances[v],
                         expected[v]);
  return {};
}

}  // namespace examples
