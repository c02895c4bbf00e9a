// Memory of segments and channels: checking that all ranks can allocate it, and freeing it.
#include <longshore/machine/memory.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace longshore::mpi {
namespace {

constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::size_t team::agree_on_memory(std::size_t shared_bytes, std::size_t own_bytes) {
  const auto number = [](std::size_t bytes) {
    return static_cast<std::int64_t>(std::min(bytes, most));
  };
  // Nodes may be virtual, so a host's memory is divided among all of its ranks. An access to shared
  // memory that cannot be allocated would end the process with a bus error.
  const auto ranks = static_cast<std::size_t>(ranks_on_host_);
  const std::size_t memory = available_memory_bytes() / ranks;
  const std::size_t shareable =
      nodes().my_rank_count() > 1 ? available_shared_memory_bytes() / ranks : memory;
  std::array<std::int64_t, 4> all{-number(shared_bytes), -number(own_bytes), number(memory),
                                  number(shareable)};
  allreduce(all, reduction::min);
  const std::int64_t shared = -all[0], own = -all[1], least_memory = all[2],
                     least_shareable = std::min(all[2], all[3]);
  if (shared > least_shareable || own > least_memory - shared)
    fail(errc::out_of_memory,
         "a rank requests {} bytes, {} of them shared; the host with the least memory has {} for "
         "each of its ranks, {} of them shared: use smaller arrays or fewer ranks per node",
         shared_bytes + own_bytes, shared_bytes, least_memory, least_shareable);
  return static_cast<std::size_t>(shared);
}

void team::release(std::unique_ptr<collective_resource> resource, bool unwinding) {
  deferred_frees_.free_or_defer(*this, std::move(resource), unwinding,
                                [this](collective_resource& freed) { freed.close(*this); });
}

void team::free_deferred() {
  for (const auto deferred = deferred_frees_.take(); const auto& resource : deferred)
    resource->close(*this);
}

}  // namespace longshore::mpi
