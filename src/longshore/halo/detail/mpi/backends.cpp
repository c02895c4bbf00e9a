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

template <class Backend>
std::unique_ptr<detail::exchange_backend> make(const rank_grid& grid, detail::halo_round round,
                                               const round_communicator& tags, tasks* workers) {
  return std::make_unique<Backend>(grid, std::move(round), tags, workers);
}

decltype(&make<sendrecv_backend>) maker_of(halo_mode mode) {
  switch (mode) {
    case halo_mode::sendrecv: return &make<sendrecv_backend>;
    case halo_mode::redblack: return &make<redblack_backend>;
    case halo_mode::isend_recv: return &make<isend_recv_backend>;
    case halo_mode::irecv_send: return &make<irecv_send_backend>;
    case halo_mode::pairwise: return &make<pairwise_backend>;
    case halo_mode::waitall: return &make<waitall_backend>;
    case halo_mode::persistent: return &make<persistent_backend>;
    case halo_mode::neighbor: return &make<neighbor_backend>;
#if MPI_VERSION >= 4
    case halo_mode::partitioned: return &make<partitioned_backend>;
#endif
    case halo_mode::subarray: return &make<subarray_backend>;
    case halo_mode::rma_fence: return &make<rma_fence_backend>;
    case halo_mode::rma_pscw: return &make<rma_pscw_backend>;
    case halo_mode::rma_flush: return &make<rma_flush_backend>;
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
  const auto make_backend = maker_of(mode);
  for (std::size_t r = 0; r < rounds.size(); ++r)
    backends.push_back(make_backend(grid, std::move(rounds[r]), communicators[r], options.workers));
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
