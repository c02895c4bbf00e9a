// Announces messages: on few ranks by one collective call, on many ranks by messages or remote
// accesses to the destinations.
#include <longshore/exchange/detail/agreement/learn_sources.hpp>

#include <longshore/transport/segment.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace longshore::detail {
namespace {

// With more ranks, an alltoall takes longer than a sparse announcement.
constexpr int max_collective_ranks = 256;

std::vector<int> learn_by_alltoall(team& ranks, std::span<const int> destinations) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::byte> sends(size), receives(size);
  for (const int rank : destinations) sends[static_cast<std::size_t>(rank)] = std::byte{1};
  ranks.alltoall(sends, receives);
  std::vector<int> sources;
  for (std::size_t r = 0; r < size; ++r)
    if (receives[r] != std::byte{0}) sources.push_back(static_cast<int>(r));
  return sources;
}

// Each rank has a list of its sources: their number, and then the sources. A rank adds itself to
// the lists of its destinations. The lists have room for the largest number of destinations of any
// rank, which suffices for symmetric graphs. If a list is too short, all ranks repeat with longer
// lists.
std::vector<int> learn_by_segment(team& ranks, std::span<const int> destinations) {
  const int me = ranks.rank();
  auto places =
      ranks.allreduce_value(static_cast<std::int64_t>(destinations.size()), reduction::max);
  while (true) {
    const auto lists =
        ranks.allocate(sizeof(std::int64_t) + static_cast<std::size_t>(places) * sizeof(int));
    for (const int rank : destinations) {
      const auto place = lists->fetch_add(rank, 0, 1);
      if (place < places)
        lists->put_start(rank, sizeof(std::int64_t) + static_cast<std::size_t>(place) * sizeof(int),
                         &me, sizeof me);
    }
    lists->quiet();
    ranks.barrier();
    std::int64_t count = 0;
    std::memcpy(&count, lists->local(), sizeof count);
    const auto most = ranks.allreduce_value(count, reduction::max);
    if (most > places) {
      places = most;
      continue;
    }
    std::vector<int> sources(static_cast<std::size_t>(count));
    if (count > 0)
      std::memcpy(sources.data(), lists->local() + sizeof count, sources.size() * sizeof(int));
    return sources;
  }
}

}  // namespace

std::vector<int> learn_sources(team& ranks, std::span<const int> destinations, announcement by) {
  if (by == announcement::automatic)
    by = ranks.size() <= max_collective_ranks ? announcement::collective : announcement::sparse;
  if (by == announcement::collective) return learn_by_alltoall(ranks, destinations);
  std::vector<int> sources;
#ifdef LONGSHORE_HAVE_MPI
  if (ranks.transport_name() == "mpi")
    sources = mpi::nonblocking_consensus(ranks, destinations);
  else
#endif
    sources = learn_by_segment(ranks, destinations);
  std::sort(sources.begin(), sources.end());
  return sources;
}

}  // namespace longshore::detail
