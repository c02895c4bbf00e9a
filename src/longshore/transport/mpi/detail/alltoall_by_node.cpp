// A short alltoall between nodes of several ranks: one message between each two nodes, instead of
// one between each two ranks. Each rank copies its blocks to its staging buffer. The first rank of
// a node sends to each other node the blocks for the ranks there. The first rank copies each block
// that arrives to the staging buffer of the receiving rank. There the block overwrites the block
// for its sender, which has been sent.
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

// A tag above those of the barrier (the numbers of its rounds), and below those of plans
// (take_message_tag).
constexpr int blocks_tag = 63;

}  // namespace

void team::alltoall_by_node(const collective_call& call, std::span<const std::byte> outgoing,
                            std::span<std::byte> incoming) {
  const std::size_t block = outgoing.size() / size(), offset = next_staging_offset();
  std::byte* const staging = part_of(rank()) + offset;
  std::copy_n(outgoing.data(), outgoing.size(), staging);
  ++barrier_count_;
  barrier_->wait(*this, call, [&](const call_mismatch& mismatch) {
    if (!mismatch.found) exchange_between_nodes(block, offset);
  });
  for (int peer = 0; peer < size(); ++peer)
    std::copy_n(
        nodes().is_local(peer) ? part_of(peer) + offset + rank() * block : staging + peer * block,
        block, incoming.data() + peer * block);
}

// A message has its blocks in the order of senders; the blocks of one sender are in the order of
// receivers. All blocks are packed before an arriving block overwrites one of them.
void team::exchange_between_nodes(std::size_t block_bytes, std::size_t staging_offset) {
  if (!block_messages_) block_messages_ = std::make_unique<block_messages>();
  auto& [outgoing, incoming, sent, received] = *block_messages_;
  const int node_count = nodes().node_count();
  const auto own = nodes().my_ranks();
  const auto staged = [&](int of, int peer) {
    return part_of(of) + staging_offset + peer * block_bytes;
  };
  // Calls f(node, begin, bytes) for the message to, or from, each other node.
  const auto for_each_message = [&](const auto& f) {
    std::size_t begin = 0;
    for (int distance = 1; distance < node_count; ++distance) {
      const int node = (nodes().my_node() + distance) % node_count;
      const std::size_t bytes = own.size() * nodes().ranks_of(node).size() * block_bytes;
      f(node, begin, bytes);
      begin += bytes;
    }
  };
  const std::size_t total = own.size() * (size() - own.size()) * block_bytes;
  outgoing.resize(total);
  incoming.resize(total);
  sent.clear();
  received.clear();
  try {
    for_each_message([&](int node, std::size_t begin, std::size_t bytes) {
      check(MPI_Irecv(incoming.data() + begin, static_cast<int>(bytes), MPI_BYTE,
                      nodes().leaders()[node], blocks_tag, ranks_.get(),
                      &received.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Irecv");
    });
    for_each_message([&](int node, std::size_t begin, std::size_t bytes) {
      std::byte* to = outgoing.data() + begin;
      for (const int sender : own)
        for (const int receiver : nodes().ranks_of(node))
          to = std::copy_n(staged(sender, receiver), block_bytes, to);
      check(MPI_Isend(outgoing.data() + begin, static_cast<int>(bytes), MPI_BYTE,
                      nodes().leaders()[node], blocks_tag, ranks_.get(),
                      &sent.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Isend");
    });
    for (auto& request : received) complete(request, "an alltoall");
    for (auto& request : sent) complete(request, "an alltoall");
  } catch (...) {
    static_cast<void>(block_messages_.release());  // leaked, because requests may still use it
    throw;
  }
  const std::byte* from = incoming.data();
  for_each_message([&](int node, std::size_t, std::size_t) {
    for (const int sender : nodes().ranks_of(node))
      for (const int receiver : own) {
        std::copy_n(from, block_bytes, staged(receiver, sender));
        from += block_bytes;
      }
  });
}

}  // namespace longshore::mpi
