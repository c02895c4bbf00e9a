// Selects who makes the backends of a plan: detail/mpi for modes of MPI calls, or the mixed
// backend.
#include <longshore/halo/detail/backends/exchange_backend.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/backends/agree_on_messages.hpp>
#include <longshore/halo/detail/backends/mixed_backend.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/backends.hpp>
#endif

namespace longshore::detail {

std::vector<std::unique_ptr<exchange_backend>> make_backends(halo_mode mode, const rank_grid& grid,
                                                             std::vector<halo_round> rounds,
                                                             const backend_options& options) {
  if (const auto reason = why_not(mode, grid.ranks().transport_name(), grid.shape(), grid.wraps()))
    fail(errc::unsupported, "{}", *reason);
  if (grid.ranks().size() > 1) agree_on_messages(grid, rounds);
#ifdef LONGSHORE_HAVE_MPI
  if (is_mpi_mode(mode)) return mpi::make_backends(mode, grid, std::move(rounds), options);
#endif
  // The mode is channel or direct: without MPI, why_not has refused all other modes, because no
  // transport is named mpi.
  return make_mixed_backends(mode, grid, std::move(rounds), options);
}

}  // namespace longshore::detail
