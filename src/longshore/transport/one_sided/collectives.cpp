// Collectives in which each rank has something else for each other: streams of blocks. They wait within the deadline, which those of the
// libraries do not. A rank makes connections with all others.
#include <longshore/transport/one_sided/team.hpp>

namespace longshore::one_sided {

block_streams& team::streams() {
  if (streams_ == nullptr) streams_ = std::make_unique<block_streams>(*this);
  return *streams_;
}

void team::alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  const auto ranks = static_cast<std::size_t>(size());
  const std::vector<std::size_t> block_bytes(ranks, outgoing.size() / ranks);
  streams().exchange(outgoing.data(), block_bytes, incoming.data(), block_bytes);
}

void team::alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts, std::byte* incoming,
                     std::span<const std::size_t> incoming_counts, std::size_t element_bytes) {
  std::vector<std::size_t> outgoing_bytes(outgoing_counts.begin(), outgoing_counts.end());
  std::vector<std::size_t> incoming_bytes(incoming_counts.begin(), incoming_counts.end());
  for (auto* const all : {&outgoing_bytes, &incoming_bytes})
    for (auto& bytes : *all) bytes *= element_bytes;
  streams().exchange(outgoing, outgoing_bytes, incoming, incoming_bytes);
}

}  // namespace longshore::one_sided
