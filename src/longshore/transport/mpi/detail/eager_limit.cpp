// The eager limit of shared memory of Open MPI: its default, or what the environment sets.
#include <longshore/transport/mpi/detail/eager_limit.hpp>
#include <longshore/transport/mpi/detail/headers.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace longshore::mpi {

std::size_t eager_bytes_within_host() {
#ifdef OPEN_MPI
  constexpr std::size_t default_bytes = 4096;
  // The component for shared memory of Open MPI 4, and of Open MPI 5. mpirun sets the variables for
  // its option --mca.
  for (const char* const name : {"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"})
    if (const char* const value = std::getenv(name)) {
      const std::string_view text(value);
      std::size_t bytes = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
      return error == std::errc() && end == text.data() + text.size() ? bytes : 0;
    }
  return default_bytes;
#else
  return 0;
#endif
}

}  // namespace longshore::mpi
