// Makes the handshakes between a rank and its neighbours, once per grid.
#include <longshore/halo/detail/grid_handshake.hpp>

#include <set>

namespace longshore::detail {

std::vector<int> neighbours_of(const rank_grid& grid) {
  std::set<int> peers;
  for (const auto& direction : all_directions(grid.dimensions()))
    peers.insert(grid.neighbour(direction));
  peers.erase(-1);
  peers.erase(grid.ranks().rank());
  return {peers.begin(), peers.end()};
}

const std::shared_ptr<messenger>& messenger_of(const rank_grid& grid) {
  if (!grid.messenger_)
    grid.messenger_ = std::make_shared<messenger>(grid.ranks(), neighbours_of(grid));
  return grid.messenger_;
}

}  // namespace longshore::detail
