// Serial runs on one rank that verify the results of the example programs with other algorithms. A
// check returns one line about the error, or an empty string.
#pragma once

#include "sparse_matrix.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

/// Checks that every number from 0 to size - 1 occurs once. For 100 numbers or more, also checks
/// Spearman's footrule, that is the sum of |permutation[i] - i|. The footrule must be within 7
/// standard deviations of its mean for random permutations (Diaconis and Graham, J. R. Stat. Soc. B
/// 1977).
[[nodiscard]] std::string wrong_random_permutation(std::span<const std::int64_t> permutation);

[[nodiscard]] std::string wrong_transpose(const sparse_matrix& matrix,
                                          const sparse_matrix& transpose);

/// Checks that entry (i, j) of `matrix` is entry (row_position[i], column_position[j]) of
/// `permuted`.
[[nodiscard]] std::string wrong_permuted_matrix(const sparse_matrix& matrix,
                                                std::span<const std::int64_t> row_position,
                                                std::span<const std::int64_t> column_position,
                                                const sparse_matrix& permuted);

/// Checks that the matrix, moved to these positions, is upper triangular with a full diagonal, and
/// that `levels` is the length of the longest chain of pivots.
[[nodiscard]] std::string wrong_topological_order(const sparse_matrix& matrix,
                                                  std::span<const std::int64_t> row_position,
                                                  std::span<const std::int64_t> column_position,
                                                  std::int64_t levels);

/// Counts, for each edge, the common neighbours of its ends.
[[nodiscard]] std::int64_t count_triangles_serially(const sparse_matrix& graph);

/// Distances by Dijkstra's algorithm; infinity for vertices without a path.
[[nodiscard]] std::vector<double> serial_shortest_paths(const sparse_matrix& graph,
                                                        std::int64_t source);

/// Checks that the distances equal those of the serial run exactly, because both runs add the same
/// weights in the same order from the source.
[[nodiscard]] std::string wrong_distances(const sparse_matrix& graph, std::int64_t source,
                                          std::span<const double> distances);

}  // namespace examples
