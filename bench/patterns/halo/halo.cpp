// Pattern halo: its factors, and the combinations of factors that are possible.
#include "harness/task_factors.hpp"
#include "patterns/halo/halo_measurements.hpp"
#include "patterns/halo/placement_factors.hpp"
#include "patterns/patterns.hpp"

#include <longshore/core/error.hpp>
#include <longshore/device/driver.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/machine/tasks.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace longshore::bench {
namespace {

std::vector<factor> factors() {
  constexpr long max_ranks = 1 << 24, max_width = 1024, max_count = 4096, max_boxes = 1 << 16;
  constexpr bool always_available = true;
  std::vector<factor> factors = {
      word_factor("algorithm", names_in<halo_algorithm>(), "",  // settle() sets it
                  "which messages, in which rounds; auto measures and takes the fastest (default: "
                  "standard, or faces with --contiguous)"),
      word_factor("mode", names_in<halo_mode>(), "channel", "which calls carry a message"),
      word_factor("reach", names_in<halo_reach>(), "corners",
                  "parts of the halo that the stencil reads: fewer parts need fewer messages"),
      word_factor("operation", {"exchange", "accumulate", "assemble"}, "",
                  "exchange: halo cells get the values of their owners; accumulate: halo cells are "
                  "added to the cells of their owners; assemble: then all copies of a cell get the "
                  "sum (default: exchange, and not recorded)",
                  always_available),
      word_factor("centring", {"cell", "vertex"}, "",
                  "what the values of a field belong to. vertex: neighbouring blocks share the "
                  "vertices between them, one layer along each dimension (default: cell, and not "
                  "recorded)",
                  always_available),
      integer_factor("boxes", "",
                     "irregular boxes per rank, anywhere in the domain, with about as many cells "
                     "as --domain says (default: 0, one regular block per rank, and not recorded)",
                     0, max_boxes),
      triple_factor("domain", "64,64,64", "cells per rank along x, y, z; x is contiguous"),
      integer_factor("halo", "1", "cells of halo on every side", 1, max_width),
      integer_factor("fields", "1", "fields exchanged together", 1, max_count),
      integer_factor("contiguous", "",
                     "elements of one buffer per face, instead of a domain: no packing"),
      word_factor("tasks", task_layer_names(), "serial",
                  "tasking layer that copies the large messages of a rank"),
      integer_factor("task-count", "", "tasks of each rank (default: its share of the cores)", 1,
                     max_count),
      word_factor("type", {"float", "double"}, "double", "type of an element"),
      word_factor("language", {"c++", "c", "fortran"}, "",
                  "language that allocates the fields, makes the plan and calls the exchange "
                  "(default: c++, and not recorded)"),
      word_factor("memory", {"shared", "own", "device"}, "",
                  "memory of the fields. shared: neighbours map it; own: a std::vector; device: of "
                  "the GPU of the process (default: shared, and not recorded)"),
      triple_factor("periodic", "1,1,1", "1 where the domain wraps around, along x, y, z", 0, 1),
      triple_factor("grid", "", "ranks along x, y, z; 0: chosen", 0, max_ranks),
      word_factor(
          "placement", names_in<grid_placement>(), "linear",
          "places of ranks in the grid: x fastest, MPI's Cartesian order, the least traffic "
          "between distant ranks, or by the levels of the machine"),
  };
  for (auto& factor : factors_of_levels()) factors.push_back(std::move(factor));
  return factors;
}

bool is_default(const variant& levels) {
  return operation_of(levels) == halo_operation::exchange && shared_layers(levels) == 0 &&
         boxes_per_rank(levels) == 0;
}

// Sums on the blocks of a grid have one message to each neighbour. The algorithm only says which
// halo cells are taken, and only some modes differ.
std::optional<std::string> why_no_sums(const variant& levels, halo_algorithm algorithm,
                                       halo_mode mode) {
  const auto operation = operation_name(levels);
  if (algorithm != halo_algorithm::standard && algorithm != halo_algorithm::faces)
    return fmt::format(
        "operation {} has one message to each neighbour: it needs algorithm standard or faces, not "
        "{}",
        operation, name_of(algorithm));
  if (is_mpi_mode(mode) && mode != halo_mode::waitall && mode != halo_mode::persistent &&
      mode != halo_mode::neighbor)
    return fmt::format("operation {} in mode {} is that in mode waitall: use the latter", operation,
                       name_of(mode));
  return std::nullopt;
}

std::optional<std::string> why_not_here(const variant& levels, const launch_facts& facts) {
  const auto algorithm = level_of<halo_algorithm>(levels, "algorithm");
  const auto mode = level_of<halo_mode>(levels, "mode");
  if (levels.contains("contiguous") && algorithm != halo_algorithm::faces)
    return "contiguous buffers are one per face: they need --algorithm faces";
  if (levels.contains("contiguous") && !is_default(levels))
    return "contiguous buffers are exchanged between blocks: leave out --operation, --centring and "
           "--boxes";
  if (auto reason = why_not_in_its_language(levels)) return reason;
  if (levels.contains("memory") && levels.contains("contiguous"))
    return "contiguous buffers are always in shared memory: leave out --memory";
  if (levels.value("memory", "") == "device") {
    if (detail::installed_driver() == nullptr)
      return "memory device needs a GPU, and a build with LONGSHORE_CUDA or LONGSHORE_HIP";
    if (boxes_per_rank(levels) > 0)
      return "several boxes per rank are in memory of the host: leave out --boxes or --memory";
  }
  if (auto reason = why_no_tasks(levels.at("tasks").get<std::string>(), task_count_of(levels)))
    return reason;
  const auto grid = grid_of(levels);
  try {
    if (auto reason =
            why_not(mode, facts.transport, expected_shape(grid, facts.ranks), grid.periodic))
      return reason;
  } catch (const error& e) {
    return e.what();
  }
  if (boxes_per_rank(levels) > 0) return why_not_in_boxes(levels);
  if (operation_of(levels) != halo_operation::exchange) return why_no_sums(levels, algorithm, mode);
  return std::nullopt;
}

void settle(variant& levels) {
  const bool contiguous = levels.contains("contiguous");
  if (!levels.contains("algorithm")) {
    variant settled = {{"algorithm", contiguous ? "faces" : "standard"}};
    settled.update(levels);
    levels = std::move(settled);
  }
  if (contiguous)
    for (const char* name : {"domain", "halo", "fields", "reach"}) levels.erase(name);
  const bool has_boxes = boxes_per_rank(levels) > 0;
  if (has_boxes) levels["placement"] = "linear";
  if (contiguous || has_boxes || operation_of(levels) != halo_operation::exchange)
    levels["tasks"] = "serial";
  if (!contiguous && levels.at("algorithm") == "faces") levels["reach"] = "faces";
  if (levels.at("tasks") == "serial") levels.erase("task_count");
  if (levels.at("placement") == "levels") return;
  for (const auto& factor : factors_of_levels()) levels.erase(factor.name);
}

// The slots of channels: outgoing and incoming cells of all sides, with two slots at each end. A
// plan of sums has slots for both directions, besides those of the exchange.
std::size_t needed_symmetric_bytes(const variant& levels, int) {
  constexpr std::size_t ends = 2, slots = 2, sides = 6;
  if (levels.contains("contiguous"))
    return ends * slots * sides * levels.at("contiguous").get<std::size_t>() * sizeof(double);
  const auto width = levels.at("halo").get<double>();
  const auto shared = static_cast<double>(shared_layers(levels));
  const auto boxes = static_cast<double>(boxes_per_rank(levels));
  // A box is twice as long as a cube would be, along one dimension.
  const double shorter = boxes > 0 ? std::cbrt(boxes) : 1, longer = boxes > 0 ? 2 : 1;
  double cells = 1, with_halo = longer;
  for (const double extent : triple<double>(levels.at("domain"))) {
    cells *= extent / shorter;
    with_halo *= extent / shorter + shared + 2 * width;
  }
  const double in_halos = std::max(boxes, 1.0) * std::max(0.0, with_halo - cells);
  const int programs = operation_of(levels) == halo_operation::exchange ? 1 : 3;
  return static_cast<std::size_t>(ends * slots * programs * in_halos *
                                  levels.at("fields").get<double>() * sizeof(double));
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
                       "--core 2,2,2",
                       "longshore-bench halo --ranks 2 --memory device --mode direct,channel "
                       "--phases",
                       "longshore-bench halo --ranks 2 --boxes 0,8 --centring cell,vertex "
                       "--operation exchange,assemble"},
          .why_not = why_not_here,
          .make = measure_halo,
          .settle = settle,
          .symmetric_bytes = needed_symmetric_bytes,
          .check = check_levels,
          .times_phases = true};
}

}  // namespace longshore::bench
