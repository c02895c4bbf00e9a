// The meshes of pattern ghost. A mesh is cut into parts, one per rank. Every rank computes its own
// part alone, from the numbers that describe the mesh, so that parts need no messages.
#pragma once

#include <longshore/array/distribution.hpp>

#include "facts/json.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace longshore::bench {

/// What one part has and needs. In a location, `rank` is the number of a part.
struct mesh_part {
  std::uint64_t owned = 0;
  /// Elements of other parts, each once, ascending by part and offset. A mesh of a single part may
  /// have ghosts of its own elements.
  std::vector<location> ghosts = {};
  /// For each owned element, the number of parts that have a ghost of it. Computed without the
  /// ghosts of other parts, so that it verifies their exchange.
  std::vector<std::uint32_t> copies = {};
};

/// A part of `owned` elements that needs the elements at `needed`. `given`: a part that needs an
/// element of this part, and the element. Both may be in any order, and repeat locations.
[[nodiscard]] mesh_part part_of(std::uint64_t owned, std::vector<location> needed,
                                std::vector<location> given);

/// A graph without structure: the ghosts of a part are random elements of random other parts. The
/// k-th ghosts of all parts are the same number of parts away, so that a part can tell which parts
/// need its elements. Elements are drawn independently. O(ghosts) time.
struct random_graph {
  std::uint64_t elements = 0;  ///< of each part
  std::uint64_t ghosts = 0;    ///< of each part; fewer if an element is drawn twice
  std::uint64_t reach = 0;     ///< ghosts are at most this many parts away; 0: anywhere
  std::uint64_t seed = 0;
};
[[nodiscard]] mesh_part part_of(const random_graph& graph, int part, int parts);

/// The rows of a banded matrix: a part needs the elements before and after its own.
struct band_matrix {
  std::uint64_t elements = 0;  ///< of each part
  std::uint64_t ghosts = 0;    ///< of a part, half on each side; fewer at the ends of the matrix
};
[[nodiscard]] mesh_part part_of(const band_matrix& matrix, int part, int parts);

/// A box of hexahedra, or of cubes that are cut into six tetrahedra each. Recursive coordinate
/// bisection cuts the box into parts. Cuts of hexahedra are planes. Cuts of tetrahedra divide a
/// layer of cubes, so the surfaces of their parts are jagged. A part needs the elements of other
/// parts within `layers` steps over faces. O(elements) time for few layers.
struct box_mesh {
  enum class cells { hexahedra, tetrahedra };
  std::uint64_t elements = 0;  ///< of a part, on average
  cells kind = cells::hexahedra;
  std::uint64_t layers = 1;
};
[[nodiscard]] mesh_part part_of(const box_mesh& mesh, int part, int parts);

/// The matrix of a file in the coordinate format of Matrix Market, with its rows divided evenly. A
/// part needs the columns of its entries. Every call reads the whole file; memory is that of the
/// entries of one part. Throws errc::usage with the number of the line if the file is wrong.
struct matrix_file {
  std::string name;
};
[[nodiscard]] mesh_part part_of(const matrix_file& file, int part, int parts);
/// The number of rows. Reads the first lines of the file.
[[nodiscard]] std::uint64_t rows_of(const matrix_file& file);

/// A part of the mesh that a variant names. Levels are those of pattern ghost.
[[nodiscard]] mesh_part part_of(const json& levels, std::uint64_t seed, int part, int parts);

}  // namespace longshore::bench
