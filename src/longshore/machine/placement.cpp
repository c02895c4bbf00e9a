// Converts between positions of ranks along the hardware and coordinates in the grid of ranks, and
// checks grids against the machine. Also computes the grid that MPI_Dims_create would choose.
#include <longshore/machine/placement.hpp>

#include <longshore/core/error.hpp>
#include <longshore/machine/detail/grid_factors.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace longshore {
namespace {

constexpr long max_positions = 1L << 30;

std::string names_of(std::span<const hardware_level> levels) {
  std::string text;
  for (const auto& level : levels)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", level.name, level.count);
  return text;
}

}  // namespace

int position_count(std::span<const hardware_level> levels) {
  long positions = 1;
  for (const auto& level : levels) {
    if (level.count < 1)
      fail(errc::usage, "level {}: a count of {}; it must be at least 1", level.name, level.count);
    positions *= level.count;  // cannot overflow: at most 2^30 times an int
    if (positions > max_positions)
      fail(errc::usage, "{} are more than 2^30 positions for ranks", names_of(levels));
  }
  return static_cast<int>(positions);
}

dimension_order dimension_order_from(std::string_view text) {
  dimension_order order{};
  std::string sorted(text);
  std::sort(sorted.begin(), sorted.end());
  if (sorted != "xyz")
    fail(errc::usage,
         "'{}' is not an order of dimensions: give x, y and z once each, the fastest first, as in "
         "xyz",
         text);
  for (std::size_t i = 0; i < 3; ++i) order[i] = text[i] - 'x';
  return order;
}

std::string name_of(const dimension_order& order) {
  std::string text;
  for (const int d : order) text += static_cast<char>('x' + d);
  return text;
}

std::string text_of(const grid_triple& grid) {
  return fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]);
}

placement::placement(std::vector<placement_level> levels)
    : levels_(std::move(levels)), blocks_(levels_.size()) {
  if (levels_.empty())
    fail(errc::usage, "a placement without levels: give at least one, such as node");
  long positions = 1;
  for (std::size_t i = levels_.size(); i-- > 0;) {
    blocks_[i] = shape_;
    for (int d = 0; d < 3; ++d) {
      const int extent = levels_[i].grid[d];
      if (extent < 1)
        fail(errc::usage, "{} {}: each number must be at least 1", levels_[i].name,
             text_of(levels_[i].grid));
      positions *= extent;
      if (positions > max_positions)
        fail(errc::usage, "{} {}: more than 2^30 ranks", levels_[i].name, text_of(levels_[i].grid));
      shape_[d] *= extent;
    }
  }
}

std::span<const placement_level> placement::levels() const noexcept { return levels_; }

grid_triple placement::coordinates_of(int position) const noexcept {
  grid_triple at{};
  for (std::size_t i = levels_.size(); i-- > 0;) {
    const auto& level = levels_[i];
    for (const int d : level.order) {
      at[d] += position % level.grid[d] * blocks_[i][d];
      position /= level.grid[d];
    }
  }
  return at;
}

int placement::position_at(const grid_triple& coordinates) const noexcept {
  grid_triple rest = coordinates;
  int position = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const auto& level = levels_[i];
    int index = 0;
    for (std::size_t k = 3; k-- > 0;) {
      const int d = level.order[k];
      index = index * level.grid[d] + rest[d] / blocks_[i][d];
      rest[d] %= blocks_[i][d];
    }
    position = position * level.count() + index;
  }
  return position;
}

void placement::check(std::span<const hardware_level> machine) const {
  for (std::size_t i = 0; i < std::max(levels_.size(), machine.size()); ++i) {
    if (i >= levels_.size())
      fail(errc::usage, "level {} of the machine ({}) has no grid", machine[i].name,
           names_of(machine));
    if (i >= machine.size() || levels_[i].name != machine[i].name)
      fail(errc::usage, "level {} does not fit the machine: its levels are {}, in this order",
           levels_[i].name, names_of(machine));
    if (levels_[i].count() != machine[i].count)
      fail(errc::usage, "{} {} makes {}, the machine has {}", levels_[i].name,
           text_of(levels_[i].grid), levels_[i].count(), machine[i].count);
  }
}

rank_order::rank_order(const grid_triple& shape, const dimension_order& order) noexcept
    : shape_(shape), order_(order) {
  int stride = 1;
  for (const int d : order_) {
    strides_[d] = stride;
    stride *= shape_[d];
  }
}

grid_triple rank_order::coordinates_of(int position) const noexcept {
  grid_triple at{};
  for (int d = 0; d < 3; ++d) at[d] = position / strides_[d] % shape_[d];
  return at;
}

grid_triple mpi_dims_create(int ranks, int dimensions, const grid_triple& given) {
  // Free entries must not increase.
  using sum_and_largest = std::pair<long, int>;
  const auto cost = [&](const grid_triple& grid) -> std::optional<sum_and_largest> {
    int previous_free = ranks;
    for (int d = 0; d < 3 && d < dimensions; ++d) {
      if (given[d] != 0) continue;
      if (grid[d] > previous_free) return std::nullopt;
      previous_free = grid[d];
    }
    return {{long{grid[0]} + grid[1] + grid[2], *std::max_element(grid.begin(), grid.end())}};
  };
  const auto best = detail::best_grid(ranks, dimensions, given, cost);
  if (!best)
    fail(errc::usage,
         "no grid of {} ranks in {} dimensions fits {} (0 is free): each number must divide the "
         "ranks",
         ranks, dimensions, text_of(given));
  return *best;
}

}  // namespace longshore
