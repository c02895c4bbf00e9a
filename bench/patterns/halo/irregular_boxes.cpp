// Cuts the domain in two at a random place, and goes on with both parts.
#include "patterns/halo/irregular_boxes.hpp"

#include <longshore/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace longshore::bench {
namespace {

// A dimension with at least two cells. Long dimensions are drawn more often.
int random_dimension(const cell_box& box, random_stream& random) {
  std::uint64_t cuts = 0;
  for (const auto cells : box.cells) cuts += static_cast<std::uint64_t>(cells - 1);
  std::uint64_t drawn = random.below(cuts);
  int d = 0;
  while (drawn >= static_cast<std::uint64_t>(box.cells[d] - 1))
    drawn -= static_cast<std::uint64_t>(box.cells[d++] - 1);
  return d;
}

void cut(const cell_box& box, std::int64_t count, random_stream& random,
         std::vector<cell_box>& boxes) {
  if (count == 1) {
    boxes.push_back(box);
    return;
  }
  const int d = random_dimension(box, random);
  const double share = 0.3 + 0.4 * random.uniform();  // of the boxes, in the low part
  const double error = 0.8 + 0.4 * random.uniform();
  cell_box low = box, high = box;
  low.cells[d] = std::clamp<std::int64_t>(
      std::llround(share * error * static_cast<double>(box.cells[d])), 1, box.cells[d] - 1);
  high.first[d] += low.cells[d];
  high.cells[d] -= low.cells[d];
  // Each part has at least one cell per box.
  const auto in_low = std::clamp(std::llround(share * static_cast<double>(count)),
                                 std::max<long long>(1, count - high.count()),
                                 std::min<long long>(count - 1, low.count()));
  cut(low, in_low, random, boxes);
  cut(high, count - in_low, random, boxes);
}

}  // namespace

std::vector<cell_box> irregular_boxes(const cell_box& domain, std::size_t count,
                                      std::uint64_t seed) {
  random_stream random(seed);
  std::vector<cell_box> boxes;
  cut(domain, static_cast<std::int64_t>(count), random, boxes);
  shuffle(std::span(boxes), random);
  return boxes;
}

}  // namespace longshore::bench
