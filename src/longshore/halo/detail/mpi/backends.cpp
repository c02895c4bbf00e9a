// Makes the backends that call MPI: selects the class for a mode, and makes one object per round.
#include <longshore/halo/detail/mpi/backends.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/mpi/blocking_backend.hpp>
#include <longshore/halo/detail/mpi/neighbor_backend.hpp>
#include <longshore/halo/detail/mpi/nonblocking_backend.hpp>
#include <longshore/halo/detail/mpi/partitioned_backend.hpp>
#include <longshore/halo/detail/mpi/piece_size.hpp>
#include <longshore/halo/detail/mpi/posted_backend.hpp>
#include <longshore/halo/detail/mpi/rma_backend.hpp>
#include <longshore/halo/detail/mpi/subarray_backend.hpp>

#include <fmt/core.h>

namespace longshore::mpi {
namespace {

template <class Backend>
std::unique_ptr<detail::exchange_backend> make(const round_setup& setup) {
  return std::make_unique<Backend>(setup);
}

using backend_maker = std::unique_ptr<detail::exchange_backend> (*)(const round_setup& setup);

backend_maker maker_of(halo_mode mode) {
  switch (mode) {
    case halo_mode::sendrecv: return &make<sendrecv_backend>;
    case halo_mode::redblack: return &make<redblack_backend>;
    case halo_mode::isend_recv: return &make<isend_recv_backend>;
    case halo_mode::irecv_send: return &make<irecv_send_backend>;
    case halo_mode::pairwise: return &make<pairwise_backend>;
    case halo_mode::waitall: return &make<waitall_backend>;
    case halo_mode::persistent: return &make<persistent_backend>;
    case halo_mode::neighbor: return &make<neighbor_backend>;
    case halo_mode::partitioned:
#if MPI_VERSION >= 4
      return &make<partitioned_backend>;
#else
      fail(errc::unsupported, "{}", *why_not_in_library(mode));
#endif
    case halo_mode::subarray: return &make<subarray_backend>;
    case halo_mode::rma_fence: return &make<rma_fence_backend>;
    case halo_mode::rma_pscw: return &make<rma_pscw_backend>;
    case halo_mode::rma_flush: return &make<rma_flush_backend>;
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
    halo_mode mode, const rank_grid& grid, std::vector<detail::halo_round> rounds,
    const detail::backend_options& options) {
  std::vector<std::unique_ptr<detail::exchange_backend>> backends;
  const auto make_backend = maker_of(mode);
  for (const auto& setup : make_round_setups(grid, std::move(rounds), options.workers))
    backends.push_back(make_backend(setup));
  return backends;
}

std::vector<std::unique_ptr<detail::polled_backend>> make_posted_backends(
    const rank_grid& grid, const std::vector<detail::halo_round>& rounds,
    const detail::backend_options& options, std::optional<std::size_t> piece_bytes) {
  const auto setups = make_round_setups(grid, rounds, options.workers);
  std::vector<std::unique_ptr<posted_backend>> backends;
  for (const auto& setup : setups) backends.push_back(std::make_unique<posted_backend>(setup));
  if (!piece_bytes) piece_bytes = choose_piece_bytes(setups);  // the messages fit by now
  for (const auto& backend : backends) backend->make_requests(*piece_bytes);
  return {std::make_move_iterator(backends.begin()), std::make_move_iterator(backends.end())};
}

}  // namespace longshore::mpi
