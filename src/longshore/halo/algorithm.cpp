// The names of the halo algorithms and of the reaches of stencils, and which halo cells each
// algorithm fills.
#include <longshore/halo/algorithm.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>

#include <array>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 7> algorithm_names = {
    "standard", "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto"};
static_assert(algorithm_names.size() == static_cast<std::size_t>(halo_algorithm::automatic) + 1,
              "every algorithm has a name, and `automatic` is the last");

constexpr std::array<std::string_view, 3> reach_names = {"faces", "edges", "corners"};
static_assert(reach_names.size() == static_cast<std::size_t>(halo_reach::corners));

}  // namespace

std::span<const std::string_view> halo_algorithm_names() noexcept { return algorithm_names; }

std::string_view name_of(halo_algorithm algorithm) noexcept {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

halo_algorithm halo_algorithm_from(std::string_view name) {
  return static_cast<halo_algorithm>(
      index_of_name(algorithm_names, name, "no halo algorithm is named"));
}

std::span<const std::string_view> halo_reach_names() noexcept { return reach_names; }

halo_reach halo_reach_from(std::string_view name) {
  // The first value of halo_reach is 1.
  return static_cast<halo_reach>(1 + index_of_name(reach_names, name, "no stencil reaches"));
}

halo_reach filled_by(halo_algorithm algorithm, halo_reach needed) {
  switch (algorithm) {
    case halo_algorithm::faces: return halo_reach::faces;
    case halo_algorithm::standard:
    case halo_algorithm::sequenced: return needed;
    // A message of a later dimension carries the halo of earlier dimensions, so edges and corners
    // always come together. If no edges are needed, these algorithms plan messages through faces.
    case halo_algorithm::staged:
    case halo_algorithm::staged_sequenced:
    case halo_algorithm::hybrid:
      return needed == halo_reach::faces ? halo_reach::faces : halo_reach::corners;
    case halo_algorithm::automatic: break;
  }
  fail(errc::usage,
       "halo algorithm 'auto' fills the cells of the algorithm that the plan chose: call "
       "halo_exchange::filled()");
}

}  // namespace longshore
