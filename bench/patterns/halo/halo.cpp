// Pattern halo: a block of cells per rank and the exchange of its halo, or one contiguous buffer
// per face as in halobench.
#include "patterns/halo/halo_measurements.hpp"
#include "patterns/halo/language_measurement.hpp"
#include "patterns/halo/placement_factors.hpp"
#include "patterns/patterns.hpp"

#include <longshore/core/error.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/machine/tasks.hpp>

#include <span>

namespace longshore::bench {
namespace {

std::vector<std::string> words(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

std::vector<factor> factors() {
  using enum factor::kind;
  constexpr long most_ranks = 1 << 24;
  std::vector<factor> all = {
      {.name = "algorithm",
       .allowed = words(halo_algorithm_names()),
       .defaults = {},  // settle() sets it
       .help = "which messages, in which rounds; auto measures and takes the fastest (default: "
               "standard, or faces with "
               "--contiguous)"},
      {.name = "mode",
       .allowed = words(halo_mode_names()),
       .defaults = {"channel"},
       .help = "which calls carry a message"},
      {.name = "reach",
       .allowed = words(halo_reach_names()),
       .defaults = {"corners"},
       .help = "parts of the halo that the stencil reads: fewer parts need fewer messages"},
      {.name = "domain",
       .type = triple,
       .defaults = {"64,64,64"},
       .help = "cells per rank along x, y, z; x is contiguous"},
      {.name = "halo",
       .type = integer,
       .defaults = {"1"},
       .help = "cells of halo on every side",
       .low = 1,
       .high = 1024},
      {.name = "fields",
       .type = integer,
       .defaults = {"1"},
       .help = "fields exchanged together",
       .low = 1,
       .high = 4096},
      {.name = "contiguous",
       .type = integer,
       .defaults = {},
       .help = "elements of one buffer per face, instead of a domain: no packing",
       .low = 1,
       .high = 1L << 40},
      {.name = "tasks",
       .allowed = task_layer_names(),
       .defaults = {"serial"},
       .help = "tasking layer that copies the large messages of a rank"},
      {.name = "task-count",
       .type = integer,
       .defaults = {},
       .help = "tasks of each rank (default: its share of the cores)",
       .low = 1,
       .high = 4096},
      {.name = "type",
       .allowed = {"float", "double"},
       .defaults = {"double"},
       .help = "of an element"},
      {.name = "language",
       .allowed = {"c++", "c", "fortran"},
       .defaults = {},
       .help = "language that allocates the fields, makes the plan and calls the exchange "
               "(default: c++, and not recorded)"},
      {.name = "periodic",
       .type = triple,
       .defaults = {"1,1,1"},
       .help = "1 where the domain wraps around, along x, y, z",
       .low = 0,
       .high = 1},
      {.name = "grid",
       .type = triple,
       .defaults = {},
       .help = "ranks along x, y, z; 0: chosen",
       .low = 0,
       .high = most_ranks},
      {.name = "placement",
       .allowed = words(grid_placement_names()),
       .defaults = {"linear"},
       .help = "places of ranks in the grid: x fastest, MPI's Cartesian order, the least traffic "
               "between distant ranks, or by "
               "the levels of the machine"},
  };
  for (auto& factor : factors_of_levels()) all.push_back(std::move(factor));
  return all;
}

std::optional<std::string> why_not_here(const variant& what, const launch_facts& facts) {
  const auto algorithm = halo_algorithm_from(what.at("algorithm").get<std::string>());
  const auto mode = halo_mode_from(what.at("mode").get<std::string>());
  if (what.contains("contiguous") && algorithm != halo_algorithm::faces)
    return "contiguous buffers are one per face: they need --algorithm faces";
  if (auto reason = why_not_in_its_language(what)) return reason;
  if (auto reason =
          why_no_tasks(what.at("tasks").get<std::string>(),
                       what.contains("task_count") ? what.at("task_count").get<int>() : 0))
    return reason;
  const auto grid = grid_of(what);
  try {
    return why_not(mode, facts.transport, expected_shape(grid, facts.ranks), grid.periodic);
  } catch (const error& e) {
    return e.what();
  }
}

void settle(variant& what) {
  const bool contiguous = what.contains("contiguous");
  if (!what.contains("algorithm")) {
    variant settled = {{"algorithm", contiguous ? "faces" : "standard"}};
    settled.update(what);
    what = std::move(settled);
  }
  if (contiguous)
    for (const char* name : {"domain", "halo", "fields", "reach"}) what.erase(name);
  if (contiguous) what["tasks"] = "serial";
  if (!contiguous && what.at("algorithm") == "faces") what["reach"] = "faces";
  if (what.at("tasks") == "serial") what.erase("task_count");
  if (what.at("placement") == "levels") return;
  for (const auto& factor : factors_of_levels()) what.erase(factor.name);
}

// Slots of the channels: outgoing and incoming cells of all sides, in two slots at each end.
std::size_t needed_symmetric_bytes(const variant& what, int) {
  constexpr std::size_t ways = 2, slots = 2, sides = 6;
  if (what.contains("contiguous"))
    return ways * slots * sides * what.at("contiguous").get<std::size_t>() * sizeof(double);
  const auto domain = what.at("domain").get<std::vector<std::size_t>>();
  const auto width = what.at("halo").get<std::size_t>();
  std::size_t cells = 1, with_halo = 1;
  for (const std::size_t along : domain) cells *= along, with_halo *= along + 2 * width;
  return ways * slots * (with_halo - cells) * what.at("fields").get<std::size_t>() * sizeof(double);
}

}  // namespace

pattern halo_pattern() {
  return {.name = "halo",
          .help = "exchange of the cells around each rank's block of a structured grid",
          .factors = factors(),
          .examples = {"longshore-bench halo --domain 64,64,64 --halo 1,2 --fields 1,8",
                       "mpirun -n 8 longshore-bench halo --algorithm faces --contiguous 10000 "
                       "--mode channel,waitall,persistent",
                       "mpirun -n 8 longshore-bench halo --placement cart,auto,levels --node 1,1,1 "
                       "--core 2,2,2"},
          .why_not = why_not_here,
          .make = measure_halo,
          .settle = settle,
          .symmetric_bytes = needed_symmetric_bytes,
          .check = check_levels};
}

}  // namespace longshore::bench
