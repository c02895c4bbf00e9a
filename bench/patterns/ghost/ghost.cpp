// Pattern ghost: its factors, and the combinations of factors that are possible.
#include "patterns/ghost/ghost_measurement.hpp"
#include "patterns/patterns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace longshore::bench {
namespace {

std::vector<factor> factors() {
  constexpr long max_reach = 1L << 20, max_fields = 4096;
  constexpr bool always_available = true;
  return {
      word_factor("strategy", names_in<ghost_strategy>(), "direct",
                  "how elements reach their ghosts; auto measures and takes the fastest"),
      word_factor(
          "operation", {"update", "accumulate"}, "update",
          "update copies elements to their ghosts, accumulate adds ghosts to their elements"),
      word_factor(
          "mesh", {"random", "band", "hexahedra", "tetrahedra", "file"}, "random",
          "who needs what: random elements of other ranks, the neighbours in a banded matrix, "
          "cells over the faces of a box that is cut into parts, or the matrix of a file",
          always_available),
      {.name = "file",
       .type = factor::kind::text,
       .defaults = "",
       .help = "mesh file: the name of a file of Matrix Market, in coordinate format"},
      integer_factor("elements", "100000", "elements that each rank owns; for cells, on average"),
      integer_factor("ghosts", "10000", "ghosts of each rank, in meshes random and band"),
      integer_factor("reach", "",
                     "mesh random: ghosts are at most so many ranks away (default: anywhere); "
                     "cells: layers of ghosts (default: 1)",
                     1, max_reach),
      integer_factor("fields", "1", "fields exchanged together", 1, max_fields),
      word_factor("type", {"float", "double", "int32", "int64"}, "double",
                  "type of an element of a field"),
      word_factor(
          "memory", {"shared", "own"}, "",
          "memory of the fields. shared: neighbours map it; own: a std::vector (default: shared, "
          "and not recorded)"),
      word_factor("placement", {"linear", "random", "auto"}, "linear",
                  "which rank has which part of the mesh. linear: the part of its number; random: "
                  "any; auto: so that few ghosts leave the nodes"),
  };
}

std::optional<std::string> why_not_here(const variant& levels, const launch_facts& facts) {
  const auto strategy = levels.at("strategy").get<std::string>();
  if (is_mpi_strategy(from_name<ghost_strategy>(strategy)) && facts.transport != "mpi")
    return fmt::format("strategy {} is a sequence of MPI calls: it needs the transport mpi, not {}",
                       strategy, facts.transport);
  const auto mesh = levels.at("mesh").get<std::string>();
  if (mesh == "file") {
    if (!levels.contains("file")) return "mesh file needs the name of a file: --file NAME";
    try {
      static_cast<void>(rows_of({levels.at("file")}));
    } catch (const error& e) {
      return e.what();
    }
  }
  constexpr long max_layers = 8;  // more take very long to make
  if (levels.contains("reach") && mesh != "random" && levels.at("reach").get<long>() > max_layers)
    return fmt::format("mesh {} has up to {} layers of ghosts: --reach 1 to {}", mesh, max_layers,
                       max_layers);
  if (facts.ranks == 1 && mesh != "random")
    return fmt::format("mesh {} has no ghosts on one rank: use more ranks", mesh);
  return std::nullopt;
}

void check(const std::map<std::string, std::vector<json>>& requested) {
  const auto& meshes = requested.at("mesh");
  const auto asks = [&](const char* mesh) {
    return std::find(meshes.begin(), meshes.end(), mesh) != meshes.end();
  };
  if (!requested.at("file").empty() && !asks("file"))
    fail(errc::usage, "--file is for --mesh file: add it to the meshes");
  if (!requested.at("reach").empty() && !asks("random") && !asks("hexahedra") &&
      !asks("tetrahedra"))
    fail(errc::usage, "--reach is for the meshes random, hexahedra and tetrahedra");
}

// Removes factors without effect on the mesh.
void settle(variant& levels) {
  const std::string mesh = levels.at("mesh");
  if (mesh != "random" && mesh != "band") levels.erase("ghosts");
  if (mesh == "band" || mesh == "file") levels.erase("reach");
  if (mesh == "file")
    levels.erase("elements");
  else
    levels.erase("file");
}

// The bytes of slots of channels: two slots at each end for the ghosts of all fields, and for each
// neighbour the slots by which the graph is made.
std::size_t needed_symmetric_bytes(const variant& levels, int ranks) {
  constexpr std::size_t ends = 2, slots = 2, largest_type_bytes = 8, neighbour_bytes = 1 << 16;
  std::size_t ghosts = 1 << 20;  // of a file, which may have more or fewer
  if (levels.contains("ghosts")) {
    ghosts = levels.at("ghosts").get<std::size_t>();
  } else if (levels.contains("elements")) {  // the surface of a cube, in layers
    const double side = std::cbrt(levels.at("elements").get<double>());
    const double layers = levels.contains("reach") ? levels.at("reach").get<double>() : 1;
    ghosts = static_cast<std::size_t>(12 * (side + layers) * (side + layers) * layers) + 64;
  }
  return ends * slots * ghosts * levels.at("fields").get<std::size_t>() * largest_type_bytes +
         static_cast<std::size_t>(ranks) * neighbour_bytes;
}

std::unique_ptr<measurement> make(team& ranks, const variant& levels, const launch_facts& facts) {
  const std::string type = levels.at("type");
  if (type == "float") return std::make_unique<ghost_measurement<float>>(ranks, levels, facts);
  if (type == "int32")
    return std::make_unique<ghost_measurement<std::int32_t>>(ranks, levels, facts);
  if (type == "int64")
    return std::make_unique<ghost_measurement<std::int64_t>>(ranks, levels, facts);
  // The only other level is double.
  return std::make_unique<ghost_measurement<double>>(ranks, levels, facts);
}

}  // namespace

pattern ghost_pattern() {
  return {.name = "ghost",
          .help = "exchange of the ghosts of meshes, matrices and graphs of any shape",
          .factors = factors(),
          .examples = {"longshore-bench ghost --ranks 2 --mesh random,tetrahedra "
                       "--operation update,accumulate",
                       "mpirun -n 4 longshore-bench ghost --ranks-per-node 2 --strategy "
                       "standard,direct,node-aware-2,node-aware --ghosts 1000,100000",
                       "mpirun -n 4 longshore-bench ghost --mesh file --file matrix.mtx --fields "
                       "1,8 --placement linear,auto"},
          .why_not = why_not_here,
          .make = make,
          .settle = settle,
          .symmetric_bytes = needed_symmetric_bytes,
          .check = check,
          .times_phases = true};
}

}  // namespace longshore::bench
