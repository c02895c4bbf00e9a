// Random matrices and graphs. The same seed gives the same input on any number of ranks.
#pragma once

#include "example_program.hpp"
#include "sparse_matrix.hpp"

#include <string>
#include <vector>

namespace examples {

/// Local. All entries exist with the same probability; a row has `row_entries` entries on average.
/// Values are in (0, 1].
[[nodiscard]] sparse_matrix random_matrix(const longshore::team& team, std::uint64_t rows,
                                          std::uint64_t columns, double row_entries,
                                          std::uint64_t seed);

/// Local. An upper triangular matrix of `size` rows and columns whose rows and columns are permuted
/// at random. The diagonal is one, and a row has `row_entries` entries on average.
[[nodiscard]] sparse_matrix scrambled_triangular_matrix(const longshore::team& team,
                                                        std::uint64_t size, double row_entries,
                                                        std::uint64_t seed);

/// Collective. An undirected graph, with each edge in the rows of both ends, without loops and
/// double edges. A vertex has about `degree` edges on average; weights are in (0, 1]. Kinds:
/// - random: all edges exist with the same probability.
/// - geometric: edges join points in the unit square that are close. The weight is the distance.
///   Every rank holds all points.
/// - kronecker: R-MAT with the parameters of the Graph500 benchmark. Few vertices have very many
///   edges. An edge that is drawn twice counts once.
[[nodiscard]] sparse_matrix random_graph(longshore::team& team, const std::string& kind,
                                         std::uint64_t vertices, double degree, std::uint64_t seed);

/// Collective. The vertex with the number `asked`. If `asked` is empty, the first vertex with an
/// edge, or 0 in a graph without edges. Throws longshore::error (usage) if the graph has no vertex
/// of this number.
[[nodiscard]] std::int64_t chosen_vertex(longshore::team& team, const sparse_matrix& graph,
                                         const std::string& asked);

[[nodiscard]] option row_entries_option();
/// The options of chosen_matrix().
[[nodiscard]] std::vector<option> matrix_options();
/// The options of chosen_graph(), and more.
[[nodiscard]] std::vector<option> graph_options(std::vector<option> more = {});
/// The random matrix that the command line describes.
[[nodiscard]] sparse_matrix chosen_matrix(const program& run);
/// Collective. The random graph that the command line describes.
[[nodiscard]] sparse_matrix chosen_graph(const program& run);

}  // namespace examples
