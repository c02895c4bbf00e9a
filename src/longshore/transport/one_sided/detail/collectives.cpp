// The collectives of a team. Collectives with the same result on all ranks use staging buffers. An
// alltoall on one node uses them, too. Other exchanges use channels, and so connect each rank with
// all ranks. The collectives of the underlying libraries are not used, because they wait without a
// deadline.
#include <longshore/transport/one_sided/detail/barrier.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>

namespace longshore::one_sided {

void team::broadcast(std::span<std::byte> data, int root) {
  detail::check_root(collective::broadcast, root, size());
  detail::shared_memory_collectives(*this).broadcast(data, root);
}

void team::allgather(std::span<const std::byte> data, std::span<std::byte> gathered) {
  detail::shared_memory_collectives(*this).allgather(data, gathered);
}

void team::allreduce(std::span<std::int64_t> values, reduction operation) {
  detail::shared_memory_collectives(*this).allreduce(values, operation,
                                                     collective::allreduce_integers);
}

void team::allreduce(std::span<double> values, reduction operation) {
  detail::shared_memory_collectives(*this).allreduce(values, operation,
                                                     collective::allreduce_numbers);
}

void team::reduce(std::span<std::int64_t> values, reduction operation, int root) {
  detail::check_root(collective::reduce_integers, root, size());
  detail::shared_memory_collectives(*this).reduce(values, operation, root,
                                                  collective::reduce_integers);
}

void team::reduce(std::span<double> values, reduction operation, int root) {
  detail::check_root(collective::reduce_numbers, root, size());
  detail::shared_memory_collectives(*this).reduce(values, operation, root,
                                                  collective::reduce_numbers);
}

block_exchange& team::blocks() {
  if (blocks_ == nullptr) blocks_ = std::make_unique<block_exchange>(*this);
  return *blocks_;
}

void team::barrier_if_checked(const collective_call& call) {
  if (check_calls_ || nodes().node_count() == 1) checked_barrier(call);
}

void team::alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  if (nodes().node_count() == 1 && outgoing.size() <= staging_bytes_) {
    detail::shared_memory_collectives(*this).alltoall(outgoing, incoming);
    return;
  }
  const auto ranks = static_cast<std::size_t>(size());
  barrier_if_checked({collective::alltoall, {}, 0, outgoing.size() / ranks});
  const std::vector<std::size_t> block_bytes(ranks, outgoing.size() / ranks);
  blocks().exchange(outgoing.data(), block_bytes, incoming.data(), block_bytes);
}

void team::alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                     std::byte* incoming, std::span<const std::size_t> incoming_counts,
                     std::size_t element_bytes) {
  barrier_if_checked({collective::alltoallv, {}, 0, element_bytes});
  std::vector<std::size_t> outgoing_bytes(outgoing_counts.begin(), outgoing_counts.end());
  std::vector<std::size_t> incoming_bytes(incoming_counts.begin(), incoming_counts.end());
  for (auto& bytes : outgoing_bytes) bytes *= element_bytes;
  for (auto& bytes : incoming_bytes) bytes *= element_bytes;
  blocks().exchange(outgoing, outgoing_bytes, incoming, incoming_bytes);
}

}  // namespace longshore::one_sided
