// Reads and sets the size of the symmetric heap in the environment, where OpenSHMEM looks for it.
#include <longshore/core/bytes.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/shmem/detail/symmetric_heap.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace longshore::shmem {
namespace {

constexpr std::size_t default_heap_bytes = std::size_t{1} << 30;
constexpr const char* heap_variable = "SHMEM_SYMMETRIC_SIZE";  // of the OpenSHMEM standard
// Open MPI 4.1 does not know the variable of the standard.
constexpr const char* heap_variable_of_open_mpi = "SHMEM_SYMMETRIC_HEAP_SIZE";

// Twice the needed bytes, because some allocators round up to powers of two, but at most a rank's
// share of the host's memory. If the launcher does not tell the number of ranks on the host, the
// share is the whole memory.
std::size_t heap_bytes(std::size_t symmetric_bytes) {
  constexpr long max_ranks = 1 << 20;
  std::optional<long> ranks_on_host;
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_LOCAL_SIZE", "MPI_LOCALNRANKS",
                           "SLURM_NTASKS_PER_NODE"})
    if (!ranks_on_host) ranks_on_host = environment_integer(name, 1, max_ranks);
  const std::size_t share = available_memory_bytes() / ranks_on_host.value_or(1);
  const std::size_t wanted =
      symmetric_bytes > share ? share : std::max(default_heap_bytes, 2 * symmetric_bytes);
  return round_up(std::min(wanted, share), page_bytes());
}

// The bytes of a size such as "4G", in the format of OpenSHMEM, if `text` is a size.
std::optional<std::size_t> bytes_of_text(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string_view units = "KMGT";
  const auto unit =
      *end == '\0'
          ? 0
          : units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*end)))) + 1;
  const bool is_size = end != text.c_str() && (*end == '\0' || unit > 0);
  const double bytes = std::ldexp(number, 10 * static_cast<int>(unit));
  constexpr double max_bytes = 0x1p62;
  return is_size && bytes >= 1 && bytes < max_bytes ? std::optional(static_cast<std::size_t>(bytes))
                                                    : std::nullopt;
}

void check_heap(const std::string& size) {
  const auto bytes = bytes_of_text(size);
  if (!bytes)
    fail(
        errc::usage,
        "{} is '{}': it must be a number of bytes, optionally followed by K, M, G or T, such as 4G",
        heap_variable, size);
  const std::size_t memory = sysconf(_SC_PHYS_PAGES) * page_bytes();
  if (*bytes > memory)
    fail(errc::out_of_memory, "{} is '{}' for each rank, but this host has only {} bytes of memory",
         heap_variable, size, memory);
}

}  // namespace

void set_symmetric_heap(std::size_t symmetric_bytes) {
  const auto open_mpi_size = environment_text(heap_variable_of_open_mpi);
  const std::string size =
      environment_text(heap_variable)
          .value_or(open_mpi_size.value_or(std::to_string(heap_bytes(symmetric_bytes))));
  check_heap(size);
  for (const char* name : {heap_variable, heap_variable_of_open_mpi}) setenv(name, size.c_str(), 1);
}

std::size_t symmetric_heap_bytes() {
  return bytes_of_text(environment_text(heap_variable).value_or("")).value_or(~std::size_t{0});
}

}  // namespace longshore::shmem
