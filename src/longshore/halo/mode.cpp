// The reasons why a run cannot use a mode.
#include <longshore/halo/mode.hpp>

#include <longshore/core/error.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/round_program.hpp>
#endif

#include <fmt/core.h>

namespace longshore {

bool is_mpi_mode(halo_mode mode) noexcept { return mode >= halo_mode::sendrecv; }

std::optional<std::string> why_not(halo_mode mode, std::string_view transport,
                                   const std::array<int, 3>& grid,
                                   const std::array<bool, 3>& periodic) {
  if (is_mpi_mode(mode) && transport != "mpi")
    return fmt::format(
        "halo mode '{}' is a sequence of MPI calls: it needs the transport mpi, not {}",
        name_of(mode), transport);
#ifdef LONGSHORE_HAVE_MPI
  if (const auto missing = mpi::missing_in_library(detail::carrier_of(mode)))
    return fmt::format("halo mode '{}' needs {}", name_of(mode), *missing);
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
