// Meshes that are given by a few numbers. box_mesh.cpp and matrix_file.cpp make the others.
#include "patterns/ghost/mesh.hpp"

#include <longshore/core/random.hpp>

#include <algorithm>
#include <utility>

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

mesh_part part_of(std::uint64_t owned, std::vector<location> needed, std::vector<location> given) {
  for (auto* locations : {&needed, &given}) {
    std::sort(locations->begin(), locations->end(), [](const location& a, const location& b) {
      return std::pair(a.rank, a.offset) < std::pair(b.rank, b.offset);
    });
    locations->erase(std::unique(locations->begin(), locations->end()), locations->end());
  }
  mesh_part made{
      .owned = owned, .ghosts = std::move(needed), .copies = std::vector<std::uint32_t>(owned)};
  for (const auto& [reader, offset] : given) ++made.copies[offset];
  return made;
}

// The distance from a part to the owner of a ghost depends on the number of the ghost alone. The
// element depends on this number and on the part. So each part computes in O(ghosts) time which
// parts have ghosts of its elements.
mesh_part part_of(const random_graph& graph, int part, int parts) {
  const auto me = static_cast<std::uint64_t>(part), all = static_cast<std::uint64_t>(parts);
  random_stream distances(graph.seed, all);
  std::vector<location> needed, given;
  const auto element = [&](std::uint64_t of_part, std::uint64_t k) {
    return mix_bits(mix_bits(graph.seed + of_part) + k) % graph.elements;
  };
  for (std::uint64_t k = 0; k < graph.ghosts; ++k) {
    const std::uint64_t distance = next_distance(distances, graph.reach, all);
    const std::uint64_t reader = (me + all - distance) % all;
    needed.push_back({static_cast<int>((me + distance) % all), element(me, k)});
    given.push_back({static_cast<int>(reader), element(reader, k)});
  }
  return part_of(graph.elements, std::move(needed), std::move(given));
}

// The ghosts of a part are the `below` elements before and the `above` elements after its own. So
// the parts that have a ghost of an element form an interval on each side of it.
mesh_part part_of(const band_matrix& matrix, int part, int parts) {
  const std::uint64_t n = matrix.elements, below = matrix.ghosts / 2, above = matrix.ghosts - below,
                      total = n * static_cast<std::uint64_t>(parts);
  const std::uint64_t first = n * static_cast<std::uint64_t>(part), end = first + n;
  mesh_part made{.owned = n, .copies = std::vector<std::uint32_t>(n)};
  const auto add = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t index = from; index < to; ++index)
      made.ghosts.push_back({static_cast<int>(index / n), index % n});
  };
  add(first - std::min(below, first), first);
  add(end, end + std::min(above, total - end));
  // Element e is below part p if p n is in (e, e + below], and above part p if (p + 1) n is in
  // (e - above, e].
  const auto starts_up_to = [&](std::uint64_t index) { return index / n; };  // parts p > 0
  const auto last_part = static_cast<std::uint64_t>(parts) - 1;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t e = first + i;
    const std::uint64_t after = std::min(starts_up_to(e + below), last_part) - starts_up_to(e);
    const std::uint64_t before = starts_up_to(e) - (e >= above ? starts_up_to(e - above) : 0);
    made.copies[i] = static_cast<std::uint32_t>(after + before);
  }
  return made;
}

mesh_part part_of(const json& levels, std::uint64_t seed, int part, int parts) {
  const auto number = [&](const char* name) {
    return levels.contains(name) ? levels.at(name).get<std::uint64_t>() : 0;
  };
  const std::string mesh = levels.at("mesh");
  const std::uint64_t elements = number("elements"), ghosts = number("ghosts"),
                      reach = number("reach");
  if (mesh == "band") return part_of(band_matrix{elements, ghosts}, part, parts);
  if (mesh == "file") return part_of(matrix_file{levels.at("file")}, part, parts);
  if (mesh == "random") return part_of(random_graph{elements, ghosts, reach, seed}, part, parts);
  const auto kind = mesh == "hexahedra" ? box_mesh::cells::hexahedra : box_mesh::cells::tetrahedra;
  return part_of(box_mesh{elements, kind, std::max<std::uint64_t>(reach, 1)}, part, parts);
}

}  // namespace longshore::bench
