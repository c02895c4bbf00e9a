// The modes that are sequences of MPI calls, behind the interface of all modes. No MPI type shows here.
#pragma once

#include <longshore/halo/mode.hpp>

#include <memory>

namespace longshore::mpi {

/// Collective. REQUIRES: a team of the mpi transport, and that why_not of the mode gives nothing. Throws errc::unsupported when this MPI
/// library cannot do it rightly.
[[nodiscard]] std::unique_ptr<message_carrier> make_carrier(halo_mode mode, const rank_grid& grid, halo_round round);

}  // namespace longshore::mpi
