// Makes the handshakes between a rank and its neighbours, once per grid.
#include <longshore/halo/detail/backends/grid_handshake.hpp>

#include <set>

namespace longshore::detail {

const std::shared_ptr<neighbour_handshake>& handshake_of(const rank_grid& grid,
                                                         neighbour_place place) {
  const bool on_node = place == neighbour_place::on_node;
  auto& handshake = on_node ? grid.handshake_ : grid.handshake_between_nodes_;
  if (handshake) return handshake;
  team& ranks = grid.ranks();
  std::set<int> peers;
  for (const auto& direction : all_directions(grid.dimensions())) {
    const int peer = grid.neighbour(direction);
    if (peer >= 0 && peer != ranks.rank() && ranks.nodes().is_local(peer) == on_node)
      peers.insert(peer);
  }
  handshake =
      std::make_shared<neighbour_handshake>(ranks, std::vector<int>(peers.begin(), peers.end()));
  return handshake;
}

}  // namespace longshore::detail
