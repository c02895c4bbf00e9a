// The mesh of a variant of pattern ghost, on the ranks of a team: which rank has which part.
#pragma once

#include <longshore/transport/team.hpp>

#include "patterns/ghost/mesh.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::bench {

struct ghost_mesh {
  /// Collective. Throws errc::usage on all ranks if the mesh cannot be made, or no rank has ghosts.
  ghost_mesh(team& ranks, const json& levels, std::uint64_t seed, std::size_t element_bytes);

  int part_number;
  mesh_part part;                ///< the part of this rank; locations in it name parts
  std::vector<location> owners;  ///< the ghosts of this rank, by the ranks that own them
  double all_ghosts = 0;         ///< of all ranks
  double offnode_fraction = 0;   ///< the share of all ghosts that another node owns
  /// For one field, over all ranks: bytes of the cache lines of the elements that each rank needs,
  /// and of the lines of its ghosts.
  double element_line_bytes = 0, ghost_line_bytes = 0;
};

}  // namespace longshore::bench
