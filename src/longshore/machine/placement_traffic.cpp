// Computes the bytes that halo messages carry across each level of the machine, without visiting
// each message. The bytes that cross a level are those exchanged within one object of the next
// outer level, minus those exchanged within one object of this level.
#include <longshore/machine/placement_traffic.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace longshore {
namespace {

// Number of links in one direction along a dimension that have both ends in the same block.
std::int64_t links_within(std::int64_t extent, std::int64_t block, bool periodic) {
  if (block == extent) return periodic ? extent : extent - 1;
  return extent / block * (block - 1);
}

// Consecutive ranks along one dimension whose neighbours are at the same distance. A periodic
// dimension has two spans: the rank whose link wraps around, and all other ranks.
struct span_of_ranks {
  std::int64_t first, last;  // [first, last)
  std::int64_t step;         // coordinate of the neighbour minus coordinate of the rank
};

std::vector<span_of_ranks> spans_along(std::int64_t extent, int step, bool periodic) {
  if (step == 0) return {{0, extent, 0}};
  std::vector<span_of_ranks> spans;
  const std::int64_t border = step > 0 ? extent - 1 : 0;
  if (extent > 1)
    spans.push_back(step > 0 ? span_of_ranks{0, extent - 1, 1} : span_of_ranks{1, extent, -1});
  if (periodic) spans.push_back({border, border + 1, step > 0 ? 1 - extent : extent - 1});
  return spans;
}

// Number of integers in [0, n) whose remainder modulo `divisor` is below `limit`.
std::int64_t count_small_remainders(std::int64_t n, std::int64_t divisor, std::int64_t limit) {
  return n / divisor * limit + std::min(n % divisor, limit);
}

// Number of integers i in [first, last) for which i and i + distance lie in the same group of
// `group_size` consecutive integers.
std::int64_t count_pairs_in_groups(std::int64_t first, std::int64_t last, std::int64_t group_size,
                                   std::int64_t distance) {
  if (std::abs(distance) >= group_size) return 0;
  if (distance < 0)  // the same pairs, counted from their other integer
    return count_pairs_in_groups(first + distance, last + distance, group_size, -distance);
  return count_small_remainders(last, group_size, group_size - distance) -
         count_small_remainders(first, group_size, group_size - distance);
}

std::int64_t bytes_of_message(const halo_load& load, const std::array<int, 3>& step) {
  std::int64_t bytes = load.bytes_per_cell;
  // A message in the positive direction fills the low side of the receiver.
  for (int d = 0; d < 3; ++d)
    bytes *= step[d] == 0 ? load.cells[d] : step[d] > 0 ? load.low[d] : load.high[d];
  return bytes;
}

// Adds the messages of one direction to `within`: within[k] has the bytes of messages inside a
// group of group_sizes[k] consecutive positions.
void add_direction(const rank_order& order, const std::array<int, 3>& step, const halo_load& load,
                   std::span<const std::int64_t> group_sizes, std::vector<std::int64_t>& within) {
  const std::int64_t bytes = bytes_of_message(load, step);
  if (bytes == 0) return;
  const auto [fast, middle, slow] = order.order();
  const auto& strides = order.strides();
  const auto spans = [&](int d) {
    return spans_along(order.shape()[d], step[d], load.periodic[d]);
  };
  for (const auto& c : spans(slow))
    for (const auto& b : spans(middle))
      for (const auto& a : spans(fast)) {
        const std::int64_t distance = a.step + b.step * strides[middle] + c.step * strides[slow];
        for (std::size_t k = 0; k < group_sizes.size(); ++k) {
          if (std::abs(distance) >= group_sizes[k]) continue;
          for (std::int64_t z = c.first; z < c.last; ++z)
            for (std::int64_t y = b.first; y < b.last; ++y) {
              const std::int64_t line = z * strides[slow] + y * strides[middle];
              within[k] += bytes * count_pairs_in_groups(line + a.first, line + a.last,
                                                         group_sizes[k], distance);
            }
        }
      }
}

level_crossing crossing_from(std::span<const std::int64_t> within) {
  level_crossing crossing;
  for (std::size_t k = 1; k < within.size(); ++k)
    crossing.bytes.push_back(within[k - 1] - within[k]);
  crossing.total = within.front() - within.back();
  return crossing;
}

}  // namespace

halo_load halo_load::restricted_to(int dimensions) const noexcept {
  halo_load load = *this;
  for (int d = dimensions; d < 3; ++d) load.cells[d] = 1, load.low[d] = load.high[d] = 0;
  return load;
}

double level_crossing::fraction_beyond(std::size_t level) const noexcept {
  double beyond = 0;
  for (std::size_t k = 0; k <= level; ++k) beyond += fraction(k);
  return beyond;
}

double level_crossing::fraction(std::size_t level) const noexcept {
  return total == 0 ? 0.0 : static_cast<double>(bytes[level]) / static_cast<double>(total);
}

void check_load(const grid_triple& shape, const halo_load& load) {
  double bytes = static_cast<double>(load.bytes_per_cell);
  for (int d = 0; d < 3; ++d) {
    if (load.cells[d] < 1 || load.low[d] < 0 || load.high[d] < 0)
      fail(errc::usage,
           "{} cells with a halo of {} and {} along {}: give at least 1 cell and no "
           "negative halo",
           load.cells[d], load.low[d], load.high[d], axis_names[d]);
    bytes *= (static_cast<double>(load.cells[d]) + load.low[d] + load.high[d]) * shape[d];
  }
  if (load.bytes_per_cell < 1)
    fail(errc::usage, "{} bytes per cell: give at least 1", load.bytes_per_cell);
  if (bytes > 0x1p62)
    fail(errc::usage, "{:.3g} bytes of cells exceed 2^62: use fewer cells or ranks", bytes);
}

std::int64_t bytes_within(const grid_triple& shape, const grid_triple& block,
                          const halo_load& load) noexcept {
  // Each direction contributes a product over the dimensions: of (cells x ranks) if the message
  // does not move along the dimension, else of (halo width x links). The sum of these products over
  // all directions is a product of sums.
  std::array<std::int64_t, 3> still{}, moving{};
  for (int d = 0; d < 3; ++d) {
    still[d] = load.cells[d] * shape[d];
    moving[d] = (std::int64_t{load.low[d]} + load.high[d]) *
                links_within(shape[d], block[d], load.periodic[d]);
  }
  std::int64_t bytes = 0;
  if (load.faces_only)
    for (int d = 0; d < 3; ++d) bytes += moving[d] * still[(d + 1) % 3] * still[(d + 2) % 3];
  else
    bytes = (still[0] + moving[0]) * (still[1] + moving[1]) * (still[2] + moving[2]) -
            still[0] * still[1] * still[2];
  return bytes * load.bytes_per_cell;
}

level_crossing crossing_of(const placement& placed, const halo_load& load) {
  check_load(placed.shape(), load);
  std::vector<std::int64_t> within{bytes_within(placed.shape(), placed.shape(), load)};
  for (std::size_t k = 0; k < placed.levels().size(); ++k)
    within.push_back(bytes_within(placed.shape(), placed.block(k), load));
  return crossing_from(within);
}

level_crossing crossing_of(const rank_order& order, std::span<const hardware_level> levels,
                           const halo_load& load) {
  check_load(order.shape(), load);
  std::vector<std::int64_t> group_sizes{position_count(levels)};
  if (group_sizes.front() != order.size())
    fail(errc::usage, "a grid of {} has {} ranks, the machine has {} positions",
         text_of(order.shape()), order.size(), group_sizes.front());
  for (const auto& level : levels) group_sizes.push_back(group_sizes.back() / level.count);
  std::vector<std::int64_t> within(group_sizes.size());
  for (int index = 0; index < 27; ++index) {
    // The three digits of index in base 3, each minus 1, are the steps along the dimensions.
    const std::array<int, 3> step{index % 3 - 1, index / 3 % 3 - 1, index / 9 - 1};
    const int moves = std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]);
    if (moves == 0 || (load.faces_only && moves > 1)) continue;
    add_direction(order, step, load, group_sizes, within);
  }
  return crossing_from(within);
}

}  // namespace longshore
