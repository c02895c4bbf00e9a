// Functions longshore_grid_... and longshore_halo_...: checks what the program gives and calls
// longshore::halo_exchange.
#include "fields.hpp"
#include "grid.hpp"
#include "handles.hpp"
#include "longshore.h"
#include "parts.hpp"

#include <longshore/halo/halo_exchange.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

using namespace longshore;
using namespace longshore::bindings;

struct longshore_grid final : resource {
  longshore_grid(longshore_team& owner, rank_grid grid)
      : resource(owner, "grid"), ranks(std::move(grid)) {}
  rank_grid ranks;
};

struct longshore_halo final : resource {
  longshore_halo(const longshore_grid& grid, std::vector<const resource*> dependencies, tasks with,
                 halo_options options, const std::vector<field_memory>& memories,
                 std::span<const longshore_field> given)
      : resource(grid.team(), "halo plan", std::move(dependencies)),
        workers(std::move(with)),
        fields(given.begin(), given.end()),
        plan(grid.ranks, (options.workers = &workers, options), memories) {}
  tasks workers;  // before the plan, which keeps its address
  std::vector<longshore_field> fields;
  halo_exchange plan;
  bool in_flight = false;
  void complete() override { complete_operation(*this); }
};

namespace {

constexpr int max_dimensions = 3;

grid_options options_of(const longshore_grid_options* given) {
  grid_options options;
  if (given == nullptr) return options;
  check_reserved(given->reserved, "longshore_grid_options");
  if (given->dimensions != 0) options.dimensions = given->dimensions;
  if (options.dimensions < 1 || options.dimensions > max_dimensions)
    fail(errc::usage, "a grid of {} dimensions: use 1, 2 or 3", options.dimensions);
  for (int d = 0; d < options.dimensions; ++d) {
    options.ranks[d] = given->ranks[d];
    options.periodic[d] = given->periodic == nullptr || given->periodic[d] != 0;
    options.cells[d] = count_from(given->cells[d], "the number of cells of a domain");
  }
  options.placement = from_name<grid_placement>(text_or(given->placement, "linear"));
  if (options.placement == grid_placement::levels)
    fail(errc::unsupported,
         "placement levels exists in longshore-bench and in C++ only: use linear, cart or auto");
  return options;
}

halo_options options_of(const longshore_halo_options* given) {
  halo_options options;
  if (given == nullptr) return options;
  check_reserved(given->reserved, "longshore_halo_options");
  options.algorithm = from_name<halo_algorithm>(text_or(given->algorithm, "standard"));
  options.mode = from_name<halo_mode>(text_or(given->mode, "direct"));
  options.reach = from_name<halo_reach>(text_or(given->reach, "corners"));
  options.width = widths_from(given->width, given->low, given->high, "a halo plan");
  return options;
}

int start_part(longshore_halo* plan, const longshore_part* part, bool waits,
               std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits,
                         [&](longshore_halo& of) { of.plan.start(part_of(part), stream); });
}

}  // namespace

longshore_grid* longshore::bindings::keep_grid(longshore_team& team, rank_grid grid) {
  return team.keep(std::make_unique<longshore_grid>(team, std::move(grid)));
}

extern "C" {

int longshore_grid_create(longshore_team* team, const struct longshore_grid_options* options,
                          longshore_grid** grid) {
  return guarded([&] {
    longshore_team& owner = checked(team);
    const auto chosen = read_on_all_ranks(owner, "a grid of ranks", [&] {
      required(grid, "the pointer for the grid") = nullptr;
      return options_of(options);
    });
    *grid = keep_grid(owner, rank_grid(owner.ranks, chosen));
  });
}

int longshore_grid_free(longshore_grid* grid) { return free_object(grid); }

int longshore_grid_dimensions(const longshore_grid* grid) {
  return existing(grid, "the grid").ranks.dimensions();
}

void longshore_grid_shape(const longshore_grid* grid, int shape[3]) {
  const rank_grid& ranks = existing(grid, "the grid").ranks;
  for (int d = 0; d < max_dimensions; ++d) shape[d] = ranks.shape()[d];
}

void longshore_grid_coordinates(const longshore_grid* grid, int coordinates[3]) {
  const rank_grid& ranks = existing(grid, "the grid").ranks;
  for (int d = 0; d < max_dimensions; ++d) coordinates[d] = ranks.coordinates()[d];
}

int longshore_grid_neighbour(const longshore_grid* grid, const int step[3]) {
  halo_direction direction{};
  for (int d = 0; d < max_dimensions; ++d) {
    if (step[d] < -1 || step[d] > 1) return -1;
    direction.step[d] = static_cast<decltype(direction.step)::value_type>(step[d]);
  }
  return existing(grid, "the grid").ranks.neighbour(direction);
}

void longshore_grid_piece(const longshore_grid* grid, int dimension, int64_t cells, int64_t* first,
                          int64_t* count) {
  *first = *count = 0;
  if (dimension < 0 || dimension >= max_dimensions) return;
  const rank_grid& all = existing(grid, "the grid").ranks;
  const int64_t ranks = all.shape()[dimension], coordinate = all.coordinates()[dimension];
  const int64_t rest = cells % ranks;
  *first = coordinate * (cells / ranks) + std::min(coordinate, rest);
  *count = cells / ranks + (coordinate < rest ? 1 : 0);
}

int longshore_halo_create(const longshore_grid* grid, const struct longshore_halo_options* options,
                          const struct longshore_field* fields, int count, longshore_halo** plan) {
  return guarded([&] {
    longshore_team& owner = checked(grid, "the grid").team();
    required(plan, "the pointer for the plan");
    std::vector<field_memory> memories;
    std::vector<const resource*> dependencies{grid};
    tasks workers;
    const auto chosen = read_on_all_ranks(owner, "a halo plan", [&] {
      if (count < 1) fail(errc::usage, "a halo plan for {} fields: use 1 or more", count);
      required(fields, "the array of fields");
      for (int i = 0; i < count; ++i)
        memories.push_back(memory_of(owner, fields[i], grid->ranks.dimensions(), dependencies));
      if (options != nullptr)
        workers = tasks_named(owner.ranks, options->tasks, options->task_count);
      return options_of(options);
    });
    const std::span given(fields, memories.size());
    // std::make_unique would be a function of its own, and programs larger.
    *plan = owner.keep(std::unique_ptr<longshore_halo>(new longshore_halo(
        *grid, std::move(dependencies), std::move(workers), chosen, memories, given)));
  });
}

LONGSHORE_CALLS_THAT_END(halo)
LONGSHORE_CALLS_THAT_COMBINE(halo, accumulate, part)
LONGSHORE_CALLS_THAT_COMBINE(halo, assemble, part)

int longshore_halo_start(longshore_halo* plan) {
  return start_operation(plan, false, [](longshore_halo& of) { of.plan.start(); });
}

int longshore_halo_exchange(longshore_halo* plan) {
  return guarded([&] { checked(plan, "the plan").plan.exchange(); });
}

int longshore_halo_start_part(longshore_halo* plan, const struct longshore_part* part) {
  return start_part(plan, part, false);
}
int longshore_halo_exchange_part(longshore_halo* plan, const struct longshore_part* part) {
  return start_part(plan, part, true);
}

int longshore_halo_start_on(longshore_halo* plan, const struct longshore_part* part, void* stream) {
  return start_part(plan, part, false, stream);
}

const char* longshore_halo_algorithm(const longshore_halo* plan) {
  return name_of(existing(plan, "the plan").plan.algorithm()).data();
}

int longshore_halo_rounds(const longshore_halo* plan) {
  return static_cast<int>(existing(plan, "the plan").plan.rounds());
}

void longshore_halo_moved(const longshore_halo* plan, struct longshore_traffic* moved) {
  *moved = traffic_of(existing(plan, "the plan").plan.moved());
}

int longshore_halo_moved_in(const longshore_halo* plan, const char* operation,
                            struct longshore_traffic* moved) {
  return guarded([&] {
    const std::string_view name = text_or(operation, "exchange");
    auto which = halo_operation::exchange;
    if (name == "accumulate")
      which = halo_operation::accumulate;
    else if (name == "assemble")
      which = halo_operation::assemble;
    else if (name != "exchange")
      fail(errc::usage, "the traffic of operation '{}': allowed are exchange, accumulate, assemble",
           name);
    const traffic bytes = checked(plan, "the plan").plan.moved(which);
    required(moved, "the pointer for the traffic") = traffic_of(bytes);
  });
}
}
