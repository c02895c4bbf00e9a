// Makes the backends that call MPI. This header has no MPI types, so that files outside this folder
// can include the header.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/detail/mpi/exchange_backend.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/tasks.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace longshore::mpi {

/// Returns why the MPI library of this build does not have a mode, or nothing if it has the mode.
[[nodiscard]] std::optional<std::string> why_not_in_library(halo_mode mode);

/// Collective. Makes the backend of an MPI mode for each round. REQUIRES: a team of the mpi
/// transport, and a mode that why_not allows. Throws errc::unsupported if a test shows that the MPI
/// library delivers wrong messages in this mode.
[[nodiscard]] std::vector<std::unique_ptr<detail::exchange_backend>> make_backends(
    halo_mode mode, const rank_grid& grid, std::vector<detail::halo_round> rounds, tasks* workers);

}  // namespace longshore::mpi
