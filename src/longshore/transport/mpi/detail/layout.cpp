// Finds out which ranks share a host, whether they can share memory, and which CPUs each rank may
// use. team::make() uses this before it makes the team.
#include <longshore/core/environment.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/mpi/detail/eager_limit.hpp>
#include <longshore/transport/mpi/detail/layout.hpp>

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <utility>

namespace longshore::mpi {
namespace {

communicator split_by_host(const communicator& ranks) {
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(ranks.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
  return communicator(host);
}

// Memory for the contents of host_layout; null if the memory cannot be shared.
std::unique_ptr<node_memory> try_share(const communicator& host) {
  try {
    const auto ranks = static_cast<std::size_t>(host.size());
    // node_memory has an equal part for each rank. The parts are contiguous, and the layout ignores
    // where they begin.
    const std::size_t bytes = (host_layout(ranks).total_bytes + ranks - 1) / ranks;
    int has_room = available_shared_memory_bytes() / ranks > bytes + page_bytes() ? 1 : 0;
    check(MPI_Bcast(&has_room, 1, MPI_INT, 0, host.get()), "MPI_Bcast");
    if (host.size() > 1 && has_room == 0) return nullptr;
    return std::make_unique<node_memory>(host, bytes);
  } catch (const error& e) {
    if (e.code() != errc::transport) throw;
    return nullptr;
  }
}

// Messages carry headers of the library besides their data.
constexpr std::size_t eager_header_bytes = 128;

std::size_t smallest_eager_within_host(const communicator& ranks) {
  const std::size_t eager = eager_bytes_within_host();
  auto smallest = static_cast<unsigned long long>(eager > 2 * eager_header_bytes
                                                      ? (eager - eager_header_bytes) /
                                                            cache_line_bytes * cache_line_bytes
                                                      : 0);
  check(MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, ranks.get()),
        "MPI_Allreduce");
  return smallest;
}

bool all_of(const communicator& ranks, bool condition) {
  int value = condition ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, ranks.get()), "MPI_Allreduce");
  return value != 0;
}

// The CPUs that any rank of the host may use: launchers bind ranks to different CPUs.
std::vector<int> cpus_of_host(const communicator& host) {
  detail::cpu_mask mask = detail::mask_of(allowed_cpus());
  check(MPI_Allreduce(MPI_IN_PLACE, mask.data(), static_cast<int>(mask.size()), MPI_BYTE, MPI_BOR,
                      host.get()),
        "MPI_Allreduce");
  return detail::cpus_in(mask);
}

}  // namespace

team::layout::layout(const communicator& ranks, const run_options& options) {
  const int rank = ranks.rank();
  const bool may_share = environment_integer("LONGSHORE_MPI_SHARED", 0, 1).value_or(1) != 0;
  communicator physical_host = split_by_host(ranks);
  host_memory = may_share ? try_share(physical_host) : nullptr;

  ranks_on_host = physical_host.size();
  detail::host_share share =
      detail::share_of_host(allowed_cpus(), cpus_of_host(physical_host), physical_host.rank(),
                            ranks_on_host, options.pin && options.compact);
  cpus = std::move(share.cpus);
  enough_cores = share.enough_cores;

  host_eager_bytes = smallest_eager_within_host(ranks);
  check_calls = !all_of(ranks, !*options.check_calls);
  // The minimum of -n is minus the maximum of n.
  std::array<int, 2> per_node{*options.ranks_per_node, -*options.ranks_per_node};
  check(MPI_Allreduce(MPI_IN_PLACE, per_node.data(), 2, MPI_INT, MPI_MIN, ranks.get()),
        "MPI_Allreduce");
  detail::check_ranks_per_node(per_node[0], -per_node[1]);
  if (all_of(ranks, host_memory != nullptr)) {
    host = std::move(physical_host);
  } else {
    if (rank == 0)
      fmt::print(stderr,
                 "longshore: no memory shared between ranks (MPI_Win_allocate_shared is missing or "
                 "off, or /dev/shm is full): all data goes by messages\n");
    host_memory.reset();
    host = communicator::split(ranks.get(), rank);
    host_memory = try_share(host);
  }

  int host_id = rank;  // the first rank of the host
  check(MPI_Bcast(&host_id, 1, MPI_INT, 0, host.get()), "MPI_Bcast");
  std::vector<int> host_of(ranks.size());
  check(MPI_Allgather(&host_id, 1, MPI_INT, host_of.data(), 1, MPI_INT, ranks.get()),
        "MPI_Allgather");
  nodes = node_map(host_of, rank, *options.ranks_per_node);
}

}  // namespace longshore::mpi
