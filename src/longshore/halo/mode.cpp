// The names of the halo modes, and the reasons why a run cannot use a mode.
#include <longshore/halo/mode.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/backends.hpp>
#endif

#include <fmt/core.h>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 15> mode_names = {
    "channel",     "direct",   "sendrecv",  "redblack",   "isend-recv",
    "irecv-send",  "pairwise", "waitall",   "persistent", "neighbor",
    "partitioned", "subarray", "rma-fence", "rma-pscw",   "rma-flush"};
static_assert(mode_names.size() == static_cast<std::size_t>(halo_mode::rma_flush) + 1,
              "every mode has a name, and rma_flush is the last");

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
  if (auto reason = mpi::why_not_in_library(mode)) return reason;
#endif
  // Around a periodic dimension red and black ranks must alternate. A single rank exchanges with
  // itself, and needs no colour.
  if (mode == halo_mode::redblack)
    for (int d = 0; d < 3; ++d)
      if (periodic[d] && grid[d] % 2 != 0 && grid[d] > 1)
        return fmt::format(
            "halo mode 'redblack' needs one rank or an even number along every periodic dimension, "
            "and the grid is {},{},{}",
            grid[0], grid[1], grid[2]);
  return std::nullopt;
}

}  // namespace longshore
