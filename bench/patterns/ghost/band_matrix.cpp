// The ghosts of a part are the `below` elements before and the `above` elements after its own. So
// the parts that have a ghost of an element form an interval on each side of it.
#include "patterns/ghost/mesh.hpp"

#include <algorithm>

namespace longshore::bench {

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

}  // namespace longshore::bench
