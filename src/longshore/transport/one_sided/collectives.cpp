// Collectives. Those whose result is the same everywhere pass through rows; so does an alltoall on
// one node. Where each rank has something else for each other, blocks go in streams; then a rank
// makes connections with all others. All wait within the deadline, which those of the libraries do
// not.
#include <longshore/transport/one_sided/meeting.hpp>
#include <longshore/transport/one_sided/team.hpp>

namespace longshore::one_sided {

void team::broadcast(std::span<std::byte> data, int root) {
  detail::check_root(root, size());
  detail::row_collectives(*this).broadcast(data, root);
}

void team::allgather(std::span<const std::byte> mine_shown, std::span<std::byte> all) {
  detail::row_collectives(*this).allgather(mine_shown, all);
}

void team::allreduce(std::span<std::int64_t> values, reduction operation) {
  detail::row_collectives(*this).allreduce(values, operation,
                                           detail::collective::allreduce_integers);
}

void team::allreduce(std::span<double> values, reduction operation) {
  detail::row_collectives(*this).allreduce(values, operation,
                                           detail::collective::allreduce_numbers);
}

block_streams& team::streams() {
  if (streams_ == nullptr) streams_ = std::make_unique<block_streams>(*this);
  return *streams_;
}

void team::meet_for_blocks(const detail::collective_call& call) {
  if (check_calls_ || nodes().node_count() == 1) meet(call);
}

void team::alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  if (nodes().node_count() == 1 && outgoing.size() <= row_bytes_) {
    detail::row_collectives(*this).alltoall(outgoing, incoming);
    return;
  }
  const auto ranks = static_cast<std::size_t>(size());
  meet_for_blocks({detail::collective::alltoall, {}, 0, outgoing.size() / ranks});
  const std::vector<std::size_t> block_bytes(ranks, outgoing.size() / ranks);
  streams().exchange(outgoing.data(), block_bytes, incoming.data(), block_bytes);
}

void team::alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                     std::byte* incoming, std::span<const std::size_t> incoming_counts,
                     std::size_t element_bytes) {
  meet_for_blocks({detail::collective::alltoallv, {}, 0, element_bytes});
  std::vector<std::size_t> outgoing_bytes(outgoing_counts.begin(), outgoing_counts.end());
  std::vector<std::size_t> incoming_bytes(incoming_counts.begin(), incoming_counts.end());
  for (auto* const all : {&outgoing_bytes, &incoming_bytes})
    for (auto& bytes : *all) bytes *= element_bytes;
  streams().exchange(outgoing, outgoing_bytes, incoming, incoming_bytes);
}

}  // namespace longshore::one_sided
