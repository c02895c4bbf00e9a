// Which halo cells each algorithm fills.
#include <longshore/halo/algorithm.hpp>

#include <longshore/core/error.hpp>

namespace longshore {

halo_reach filled_by(halo_algorithm algorithm, halo_reach needed) {
  switch (algorithm) {
    case halo_algorithm::faces: return halo_reach::faces;
    case halo_algorithm::standard:
    case halo_algorithm::sequenced: return needed;
    // Messages along a later dimension carry the halo of earlier dimensions. So these algorithms
    // fill edges and corners together. If the stencil needs faces only, they fill faces only.
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
