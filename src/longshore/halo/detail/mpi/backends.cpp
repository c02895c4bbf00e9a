// Makes the backends of the modes of MPI calls, one for each round.
#include <longshore/halo/detail/mpi/backends.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/mpi/mode_backend.hpp>

#include <fmt/core.h>

namespace longshore::mpi {
namespace {

made_backend make_backend(halo_mode mode, const round_setup& setup) {
  switch (mode) {
    case halo_mode::sendrecv:
    case halo_mode::redblack:
    case halo_mode::isend_recv:
    case halo_mode::irecv_send:
    case halo_mode::pairwise: return make_blocking_backend(mode, setup);
    case halo_mode::partitioned:  // why_not() has refused libraries without it
    case halo_mode::waitall:
    case halo_mode::persistent:
    case halo_mode::subarray: return make_nonblocking_backend(mode, setup);
    case halo_mode::neighbor: return make_neighbor_backend(setup);
    case halo_mode::rma_fence:
    case halo_mode::rma_pscw:
    case halo_mode::rma_flush: return make_rma_backend(mode, setup);
    case halo_mode::channel:
    case halo_mode::direct: break;
  }
  fail(errc::unsupported, "halo mode '{}' is not a sequence of MPI calls", name_of(mode));
}

}  // namespace

std::optional<std::string> why_not_in_library(halo_mode mode) {
  if (mode != halo_mode::partitioned || MPI_VERSION >= 4) return std::nullopt;
  return fmt::format(
      "halo mode 'partitioned' needs MPI 4, and this program was built with MPI {}.{}", MPI_VERSION,
      MPI_SUBVERSION);
}

std::vector<std::unique_ptr<detail::exchange_backend>> make_backends(
    halo_mode mode, const rank_grid& grid, std::vector<detail::halo_round> rounds, tasks* workers) {
  std::vector<std::unique_ptr<detail::exchange_backend>> backends;
  for (const auto& setup : make_round_setups(grid, std::move(rounds), workers))
    backends.push_back(make_backend(mode, setup));
  return backends;
}

}  // namespace longshore::mpi
