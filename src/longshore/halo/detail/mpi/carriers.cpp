#include <longshore/halo/detail/mpi/carriers.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/mpi/all_at_once.hpp>
#include <longshore/halo/detail/mpi/leg_by_leg.hpp>
#include <longshore/halo/detail/mpi/neighbor.hpp>
#include <longshore/halo/detail/mpi/partitioned.hpp>
#include <longshore/halo/detail/mpi/posted_carrier.hpp>
#include <longshore/halo/detail/mpi/rma.hpp>
#include <longshore/halo/detail/mpi/subarray.hpp>

#include <fmt/core.h>

namespace longshore::mpi {
namespace {

std::unique_ptr<message_carrier> make_one(halo_mode mode, const rank_grid& grid,
                                          detail::halo_round round, const lane& where,
                                          tasks* workers) {
  switch (mode) {
    case halo_mode::sendrecv:
      return std::make_unique<sendrecv>(grid, std::move(round), where, workers);
    case halo_mode::redblack:
      return std::make_unique<redblack>(grid, std::move(round), where, workers);
    case halo_mode::isend_recv:
      return std::make_unique<isend_recv>(grid, std::move(round), where, workers);
    case halo_mode::irecv_send:
      return std::make_unique<irecv_send>(grid, std::move(round), where, workers);
    case halo_mode::pairwise:
      return std::make_unique<pairwise>(grid, std::move(round), where, workers);
    case halo_mode::waitall:
      return std::make_unique<waitall>(grid, std::move(round), where, workers);
    case halo_mode::persistent:
      return std::make_unique<persistent>(grid, std::move(round), where, workers);
    case halo_mode::neighbor:
      return std::make_unique<neighbor>(grid, std::move(round), where, workers);
#if MPI_VERSION >= 4
    case halo_mode::partitioned:
      return std::make_unique<partitioned>(grid, std::move(round), where, workers);
#endif
    case halo_mode::subarray:
      return std::make_unique<subarray>(grid, std::move(round), where, workers);
    case halo_mode::rma_fence:
      return std::make_unique<rma_fence>(grid, std::move(round), where, workers);
    case halo_mode::rma_pscw:
      return std::make_unique<rma_pscw>(grid, std::move(round), where, workers);
    case halo_mode::rma_flush:
      return std::make_unique<rma_flush>(grid, std::move(round), where, workers);
    default:
      fail(errc::unsupported, "halo mode '{}' is no sequence of MPI calls of this version",
           name_of(mode));
  }
}

}  // namespace

std::optional<std::string> why_no_call(halo_mode mode) {
  if (mode != halo_mode::partitioned || MPI_VERSION >= 4) return std::nullopt;
  return fmt::format(
      "halo mode 'partitioned' needs MPI 4, and this program was built with MPI {}.{}", MPI_VERSION,
      MPI_SUBVERSION);
}

std::vector<std::unique_ptr<message_carrier>> make_carriers(halo_mode mode, const rank_grid& grid,
                                                            std::vector<detail::halo_round> rounds,
                                                            const carrier_options& options) {
  const auto lanes = make_lanes(grid, rounds.size());
  std::vector<std::unique_ptr<message_carrier>> carriers;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    carriers.push_back(make_one(mode, grid, std::move(rounds[r]), lanes[r], options.workers));
  return carriers;
}

std::vector<std::unique_ptr<detail::polled_carrier>> make_posted(
    const rank_grid& grid, const std::vector<detail::halo_round>& rounds,
    const carrier_options& options) {
  const auto lanes = make_lanes(grid, rounds.size());
  std::vector<std::unique_ptr<detail::polled_carrier>> carriers;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    carriers.push_back(
        std::make_unique<posted_carrier>(grid, rounds[r], lanes[r], options.workers));
  return carriers;
}

}  // namespace longshore::mpi
