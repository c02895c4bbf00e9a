// Which halo cells each algorithm fills.
#include <longshore/halo/algorithm.hpp>

#include <longshore/core/error.hpp>

namespace longshore {

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
