#include <longshore/halo/mode.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>
#include <longshore/halo/detail/mixed_carrier.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/carriers.hpp>
#endif

#include <fmt/core.h>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 15> mode_names = {
    "channel",     "direct",   "sendrecv",  "redblack",   "isend-recv",
    "irecv-send",  "pairwise", "waitall",   "persistent", "neighbor",
    "partitioned", "subarray", "rma-fence", "rma-pscw",   "rma-flush"};

}  // namespace

std::span<const std::string_view> halo_mode_names() noexcept { return mode_names; }

std::string_view name_of(halo_mode mode) noexcept {
  return mode_names[static_cast<std::size_t>(mode)];
}

halo_mode halo_mode_from(std::string_view name) {
  return static_cast<halo_mode>(index_of_name(mode_names, name, "no halo mode is named"));
}

bool is_mpi_mode(halo_mode mode) noexcept { return mode >= halo_mode::sendrecv; }

std::optional<std::string> why_not(halo_mode mode, std::string_view transport,
                                   const std::array<int, 3>& grid,
                                   const std::array<bool, 3>& periodic) {
  if (is_mpi_mode(mode) && transport != "mpi")
    return fmt::format(
        "halo mode '{}' is a sequence of MPI calls: it needs the transport mpi, not {}",
        name_of(mode), transport);
#ifdef LONGSHORE_HAVE_MPI
  if (auto reason = mpi::why_no_call(mode)) return reason;
#endif
  if (mode == halo_mode::redblack)
    for (int d = 0; d < 3; ++d)
      if (periodic[d] && grid[d] % 2 != 0 && grid[d] > 1)
        return fmt::format(
            "halo mode 'redblack' needs one rank or an even number along every periodic dimension, "
            "and the grid is {},{},{}",
            grid[0], grid[1], grid[2]);
  return std::nullopt;
}

std::vector<std::unique_ptr<message_carrier>> make_carriers(halo_mode mode, const rank_grid& grid,
                                                            std::vector<detail::halo_round> rounds,
                                                            const carrier_options& options) {
  if (const auto reason = why_not(mode, grid.ranks().transport_name(), grid.shape(), grid.wraps()))
    fail(errc::unsupported, "{}", *reason);
#ifdef LONGSHORE_HAVE_MPI
  if (is_mpi_mode(mode)) return mpi::make_carriers(mode, grid, std::move(rounds), options);
#endif
  return detail::make_mixed_carriers(mode, grid, std::move(rounds), options);
}

std::unique_ptr<message_carrier> make_carrier(halo_mode mode, const rank_grid& grid,
                                              detail::halo_round round,
                                              const carrier_options& options) {
  std::vector<detail::halo_round> rounds;
  rounds.push_back(std::move(round));
  return std::move(make_carriers(mode, grid, std::move(rounds), options)[0]);
}

}  // namespace longshore
