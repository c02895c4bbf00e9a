// The serial runs with which the example programs compare their results: other algorithms, on the
// whole input, on one rank. Each check returns what is wrong in one line, or nothing.
#pragma once

#include "sparse_matrix.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

/// Every number from 0 to the size - 1 is there once; and from 100 numbers on their distance from
/// their own places, summed up, is what a random permutation has, within 7 standard deviations
/// (Spearman's footrule; Diaconis and Graham, J. R. Stat. Soc. B 1977).
[[nodiscard]] std::string wrong_random_permutation(std::span<const std::int64_t> permutation);

[[nodiscard]] std::string wrong_transpose(const sparse_matrix& matrix,
                                          const sparse_matrix& transpose);

/// Entry (i, j) of the matrix is entry (row_place[i], column_place[j]) of the permuted one.
[[nodiscard]] std::string wrong_permuted_matrix(const sparse_matrix& matrix,
                                                std::span<const std::int64_t> row_place,
                                                std::span<const std::int64_t> column_place,
                                                const sparse_matrix& permuted);

/// Moved to these places, the matrix is upper triangular with a full diagonal; and `levels` is the
/// length of the longest chain of pivots.
[[nodiscard]] std::string wrong_topological_order(const sparse_matrix& matrix,
                                                  std::span<const std::int64_t> row_place,
                                                  std::span<const std::int64_t> column_place,
                                                  std::int64_t levels);

/// Counted edge by edge: the neighbours that both ends share.
[[nodiscard]] std::int64_t count_triangles_serially(const sparse_matrix& graph);

/// By Dijkstra's algorithm; infinity where no path leads.
[[nodiscard]] std::vector<double> serial_shortest_paths(const sparse_matrix& graph,
                                                        std::int64_t source);

/// The distances are exactly those of the serial run: both are the least of the same sums, added up
/// from the source on.
[[nodiscard]] std::string wrong_distances(const sparse_matrix& graph, std::int64_t source,
                                          std::span<const double> distances);

}  // namespace examples
