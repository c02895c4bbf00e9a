// The mesh of a variant of pattern ghost, on the ranks of a team: which rank has which part.
#pragma once

#include <longshore/transport/team.hpp>

#include "patterns/ghost/mesh.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::bench {

/// Sums over all ranks, for an exchange of one field.
struct mesh_counts {
  double ghosts = 0;
  /// Bytes of the cache lines of the elements that each rank needs, and of the lines of its ghosts.
  double element_line_bytes = 0, ghost_line_bytes = 0;
};

class ghost_mesh {
 public:
  /// Collective. Throws errc::usage on all ranks if the mesh cannot be made, or no rank has ghosts.
  ghost_mesh(team& ranks, const json& levels, std::uint64_t seed, std::size_t element_bytes);

  /// The part of this rank. Locations in it name parts.
  [[nodiscard]] const mesh_part& part() const noexcept { return part_; }
  [[nodiscard]] int part_number() const noexcept { return number_; }
  /// The ghosts of this rank, by the ranks that own them.
  [[nodiscard]] std::span<const location> owners() const noexcept { return owners_; }
  [[nodiscard]] const mesh_counts& counts() const noexcept { return counts_; }
  /// The share of all ghosts that another node owns.
  [[nodiscard]] double offnode_fraction() const noexcept { return offnode_fraction_; }

 private:
  int number_ = 0;
  mesh_part part_;
  std::vector<location> owners_;
  mesh_counts counts_;
  double offnode_fraction_ = 0;
};

}  // namespace longshore::bench
