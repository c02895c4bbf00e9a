#include <longshore/halo/algorithm.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>

#include <array>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 7> algorithm_names = {
    "standard", "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto"};

constexpr std::array<std::string_view, 3> reach_names = {"faces", "edges", "corners"};

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
  return static_cast<halo_reach>(1 + index_of_name(reach_names, name, "no stencil reaches"));
}

halo_reach filled_by(halo_algorithm algorithm, halo_reach needed) {
  if (algorithm == halo_algorithm::automatic)
    fail(errc::usage,
         "halo algorithm 'auto' fills the cells of the algorithm that the plan chose: call "
         "halo_exchange::filled()");
  if (algorithm == halo_algorithm::faces || needed == halo_reach::faces) return halo_reach::faces;
  if (algorithm == halo_algorithm::standard || algorithm == halo_algorithm::sequenced)
    return needed;
  return halo_reach::corners;
}

}  // namespace longshore
