// Memory of segments and channels: checking that all ranks can allocate it, and freeing it.
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace longshore::mpi {
namespace {

constexpr std::size_t max_bytes = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::size_t team::agree_on_memory(const communicator& sharing, std::size_t shared_bytes,
                                  std::size_t own_bytes) {
  const auto as_integer = [](std::size_t bytes) {
    return static_cast<std::int64_t>(std::min(bytes, max_bytes));
  };
  // Nodes may be virtual, so the memory of a host is divided among all of its ranks. An access to
  // shared memory that the host does not have would end the process with a bus error.
  const std::size_t memory = available_memory_bytes() / static_cast<std::size_t>(ranks_on_host_);
  const std::size_t shareable = sharing.size() > 1 ? free_shared_bytes() : memory;
  // The minimum of -n is minus the maximum of n.
  std::array<std::int64_t, 4> values{-as_integer(shared_bytes), -as_integer(own_bytes),
                                     as_integer(memory), as_integer(shareable)};
  allreduce(values, reduction::min);
  const std::int64_t shared = -values[0], own = -values[1], min_memory = values[2],
                     min_shareable = std::min(values[2], values[3]);
  if (shared > min_shareable || own > min_memory - shared)
    fail(errc::out_of_memory,
         "a rank requests {} bytes, {} of them shared; the host with the least memory has {} for "
         "each of its ranks, {} of them shared: use smaller arrays or fewer ranks per node{}",
         shared_bytes + own_bytes, shared_bytes, min_memory, min_shareable,
         shared > min_shareable ? small_shared_memory_remedy() : "");
  return static_cast<std::size_t>(shared);
}

std::size_t team::free_shared_bytes() const {
  return available_shared_memory_bytes() / static_cast<std::size_t>(ranks_on_host_);
}

void team::release(std::unique_ptr<collective_resource> resource, bool unwinding) {
  if (has_ended()) {
    static_cast<void>(resource.release());  // leaked: its MPI objects can no longer be freed
    return;
  }
  deferred_frees_.free_or_defer(*this, std::move(resource), unwinding,
                                [this](collective_resource& freed) { freed.close(*this); });
}

void team::free_deferred() {
  for (const auto deferred = deferred_frees_.take(); const auto& resource : deferred)
    resource->close(*this);
}

}  // namespace longshore::mpi
