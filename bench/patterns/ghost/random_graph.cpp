// The distance from a part to the owner of a ghost depends on the number of the ghost alone. The
// element depends on this number and on the part. So each part computes in O(ghosts) time which
// parts have ghosts of its elements.
#include "patterns/ghost/mesh.hpp"

#include <longshore/core/random.hpp>

#include <algorithm>
#include <tuple>

namespace longshore::bench {
namespace {

// The number of parts from a part to the owner of its next ghost.
std::uint64_t next_distance(random_stream& random, std::uint64_t reach, std::uint64_t parts) {
  if (parts == 1) return 0;
  if (reach == 0 || 2 * reach >= parts - 1) return 1 + random.below(parts - 1);
  const std::uint64_t drawn = random.below(2 * reach);
  return drawn < reach ? drawn + 1 : parts - (drawn - reach + 1);
}

}  // namespace

mesh_part part_of(const random_graph& graph, int part, int parts) {
  const auto me = static_cast<std::uint64_t>(part), all = static_cast<std::uint64_t>(parts);
  random_stream distances(graph.seed, all);
  mesh_part made{.owned = graph.elements, .copies = std::vector<std::uint32_t>(graph.elements)};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> needed, given;  // part and own element
  const auto element = [&](std::uint64_t of_part, std::uint64_t k) {
    return mix_bits(mix_bits(graph.seed + of_part) + k) % graph.elements;
  };
  for (std::uint64_t k = 0; k < graph.ghosts; ++k) {
    const std::uint64_t distance = next_distance(distances, graph.reach, all);
    const std::uint64_t reader = (me + all - distance) % all;
    needed.emplace_back((me + distance) % all, element(me, k));
    given.emplace_back(reader, element(reader, k));
  }
  for (auto* pairs : {&needed, &given}) {
    std::sort(pairs->begin(), pairs->end());
    pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
  }
  for (const auto& [owner, offset] : needed)
    made.ghosts.push_back({static_cast<int>(owner), offset});
  for (const auto& [reader, offset] : given) ++made.copies[offset];
  return made;
}

}  // namespace longshore::bench
