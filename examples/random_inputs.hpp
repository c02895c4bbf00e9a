// Random matrices and graphs. The same seed gives the same one on any number of ranks.
#pragma once

#include "command_line.hpp"
#include "sparse_matrix.hpp"

#include <string>

namespace examples {

/// Local. Each entry is there with the same probability, `row_entries` of a row on average; values
/// in (0, 1].
[[nodiscard]] sparse_matrix random_matrix(const longshore::team& team, std::uint64_t rows,
                                          std::uint64_t columns, double row_entries,
                                          std::uint64_t seed);

/// Local. An upper triangular matrix of `size` rows and columns, with a diagonal of ones and
/// `row_entries` entries in a row on average, whose rows and columns were then permuted at random.
[[nodiscard]] sparse_matrix scrambled_triangular_matrix(const longshore::team& team,
                                                        std::uint64_t size, double row_entries,
                                                        std::uint64_t seed);

/// Collective. An undirected graph: each edge stands in the rows of both its ends; no loops, no
/// edge twice. On average some `degree` edges per vertex, with weights in (0, 1]. The kinds:
/// random: each edge with the same probability. geometric: points in the unit square, joined when
/// they are close; the weight is the distance. Every rank holds all points. kronecker: R-MAT with
/// the parameters of the Graph500 benchmark: few vertices have very many edges. Edges that are
/// drawn twice count once.
[[nodiscard]] sparse_matrix random_graph(longshore::team& team, const std::string& kind,
                                         std::uint64_t vertices, double degree, std::uint64_t seed);

/// Collective. The vertex of that number; where `asked` is empty the first from which an edge
/// leads, or 0. Throws longshore::error (usage) when the graph has no such vertex.
[[nodiscard]] std::int64_t chosen_vertex(longshore::team& team, const sparse_matrix& graph,
                                         const std::string& asked);

/// Options --row-entries, --graph, --degree.
[[nodiscard]] option row_entries_option();
[[nodiscard]] option graph_option();
[[nodiscard]] option degree_option();

}  // namespace examples
