// Makes the handshake between a rank and its neighbours on the node, once per grid.
#include <longshore/halo/detail/backends/grid_handshake.hpp>

#include <set>

namespace longshore::detail {

const std::shared_ptr<neighbour_handshake>& handshake_of(const rank_grid& grid) {
  if (grid.handshake_) return grid.handshake_;
  team& ranks = grid.ranks();
  std::set<int> peers;
  for (const auto& direction : all_directions(grid.dimensions())) {
    const int peer = grid.neighbour(direction);
    if (peer >= 0 && peer != ranks.rank() && ranks.nodes().is_local(peer)) peers.insert(peer);
  }
  grid.handshake_ =
      std::make_shared<neighbour_handshake>(ranks, std::vector<int>(peers.begin(), peers.end()));
  return grid.handshake_;
}

}  // namespace longshore::detail
