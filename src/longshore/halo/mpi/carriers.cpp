#include <longshore/core/error.hpp>
#include <longshore/halo/mpi/all_at_once.hpp>
#include <longshore/halo/mpi/carriers.hpp>
#include <longshore/halo/mpi/leg_by_leg.hpp>
#include <longshore/halo/mpi/neighbor.hpp>

namespace longshore::mpi {

std::unique_ptr<message_carrier> make_carrier(halo_mode mode, const rank_grid& grid, halo_round round) {
  switch (mode) {
    case halo_mode::sendrecv: return std::make_unique<sendrecv>(grid, std::move(round));
    case halo_mode::redblack: return std::make_unique<redblack>(grid, std::move(round));
    case halo_mode::isend_recv: return std::make_unique<isend_recv>(grid, std::move(round));
    case halo_mode::irecv_send: return std::make_unique<irecv_send>(grid, std::move(round));
    case halo_mode::pairwise: return std::make_unique<pairwise>(grid, std::move(round));
    case halo_mode::waitall: return std::make_unique<waitall>(grid, std::move(round));
    case halo_mode::persistent: return std::make_unique<persistent>(grid, std::move(round));
    case halo_mode::neighbor: return std::make_unique<neighbor>(grid, std::move(round));
    default: fail(errc::unsupported, "halo mode '{}' is no sequence of MPI calls of this version", name_of(mode));
  }
}

}  // namespace longshore::mpi
