#include <longshore/halo/detail/mpi/backends.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/mpi/blocking_backend.hpp>
#include <longshore/halo/detail/mpi/neighbor_backend.hpp>
#include <longshore/halo/detail/mpi/nonblocking_backend.hpp>
#include <longshore/halo/detail/mpi/partitioned_backend.hpp>
#include <longshore/halo/detail/mpi/posted_backend.hpp>
#include <longshore/halo/detail/mpi/rma_backend.hpp>
#include <longshore/halo/detail/mpi/subarray_backend.hpp>

#include <fmt/core.h>

namespace longshore::mpi {
namespace {

std::unique_ptr<detail::exchange_backend> make_one(halo_mode mode, const rank_grid& grid,
                                                   detail::halo_round round,
                                                   const round_communicator& tags, tasks* workers) {
  switch (mode) {
    case halo_mode::sendrecv:
      return std::make_unique<sendrecv_backend>(grid, std::move(round), tags, workers);
    case halo_mode::redblack:
      return std::make_unique<redblack_backend>(grid, std::move(round), tags, workers);
    case halo_mode::isend_recv:
      return std::make_unique<isend_recv_backend>(grid, std::move(round), tags, workers);
    case halo_mode::irecv_send:
      return std::make_unique<irecv_send_backend>(grid, std::move(round), tags, workers);
    case halo_mode::pairwise:
      return std::make_unique<pairwise_backend>(grid, std::move(round), tags, workers);
    case halo_mode::waitall:
      return std::make_unique<waitall_backend>(grid, std::move(round), tags, workers);
    case halo_mode::persistent:
      return std::make_unique<persistent_backend>(grid, std::move(round), tags, workers);
    case halo_mode::neighbor:
      return std::make_unique<neighbor_backend>(grid, std::move(round), tags, workers);
#if MPI_VERSION >= 4
    case halo_mode::partitioned:
      return std::make_unique<partitioned_backend>(grid, std::move(round), tags, workers);
#endif
    case halo_mode::subarray:
      return std::make_unique<subarray_backend>(grid, std::move(round), tags, workers);
    case halo_mode::rma_fence:
      return std::make_unique<rma_fence_backend>(grid, std::move(round), tags, workers);
    case halo_mode::rma_pscw:
      return std::make_unique<rma_pscw_backend>(grid, std::move(round), tags, workers);
    case halo_mode::rma_flush:
      return std::make_unique<rma_flush_backend>(grid, std::move(round), tags, workers);
    default:
      fail(errc::unsupported, "halo mode '{}' is not a sequence of MPI calls of this MPI version",
           name_of(mode));
  }
}

}  // namespace

std::optional<std::string> why_not_in_library(halo_mode mode) {
  if (mode != halo_mode::partitioned || MPI_VERSION >= 4) return std::nullopt;
  return fmt::format(
      "halo mode 'partitioned' needs MPI 4, and this program was built with MPI {}.{}", MPI_VERSION,
      MPI_SUBVERSION);
}

std::vector<std::unique_ptr<detail::exchange_backend>> make_backends(
    halo_mode mode, const rank_grid& grid, std::vector<detail::halo_round> rounds,
    const detail::backend_options& options) {
  const auto communicators = make_round_communicators(grid, rounds.size());
  std::vector<std::unique_ptr<detail::exchange_backend>> backends;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    backends.push_back(
        make_one(mode, grid, std::move(rounds[r]), communicators[r], options.workers));
  return backends;
}

std::vector<std::unique_ptr<detail::polled_backend>> make_posted_backends(
    const rank_grid& grid, const std::vector<detail::halo_round>& rounds,
    const detail::backend_options& options) {
  const auto communicators = make_round_communicators(grid, rounds.size());
  std::vector<std::unique_ptr<detail::polled_backend>> backends;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    backends.push_back(
        std::make_unique<posted_backend>(grid, rounds[r], communicators[r], options.workers));
  return backends;
}

}  // namespace longshore::mpi
