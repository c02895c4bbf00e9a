// Collectives through shared memory: each rank has staging buffers that the other ranks of its node
// can access. A collective copies data into staging buffers, makes a barrier, and copies results
// out. Long data are moved in pieces, with one barrier per piece.
//
// Each rank has two staging buffers and alternates between them. When a rank arrives at barrier n,
// all ranks have arrived at barrier n-1, and so have copied their results of barrier n-2.
//
// Between nodes the data are sent together with the messages of the barrier. So the first rank of a
// node communicates only with its partners in the rounds of the barrier.
//
// `Team` is the team of a transport, with
//   staging_bytes()          the size of one staging buffer
//   next_staging_offset()    the offset, in each rank's memory, of the buffer for the next barrier
//   part_of(rank)            the memory of a rank of this node
//   put_staging(to, offset, bytes)
//                            starts a copy of this rank's memory at `offset` to the same offset of
//                            rank `to` on another node
//   ranks_before(node)       the number of ranks on lower nodes
//   checked_barrier(call, send_with, when_node_arrived, when_all_arrived)
//                            a barrier, which calls the three functions on the first rank of the
//                            node: when_node_arrived() when all ranks of the node have arrived;
//                            send_with(distance, to) before the message to rank `to`, the first of
//                            the node `distance` = 1, 2, 4, ... after this node; and
//                            when_all_arrived() when all nodes have arrived and no rank of this
//                            node has left.
//
// Cost per rank and piece, on N nodes: one barrier within the node. The first rank of a node sends
// ceil(log2 N) messages. Together these messages carry the whole result of an allgather, the values
// of all ranks for a reduction to a root, or N times the values of an allreduce. For a broadcast each message carries at most one copy. Allgather:
// Bruck et al. 1997, IEEE TPDS 8(11), over nodes. Broadcast: a binomial tree.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/detail/collective_call.hpp>
#include <longshore/transport/detail/for_each_piece.hpp>
#include <longshore/transport/node_map.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace longshore::detail {

/// Bytes of a staging buffer that holds at least 64 bytes for each rank.
[[nodiscard]] inline std::size_t staging_bytes_for(std::size_t ranks,
                                                   std::size_t min_bytes) noexcept {
  // A piece of a collective, which is a share of the buffer, must not be empty.
  constexpr std::size_t min_bytes_per_rank = 64;
  return round_up(std::max(min_bytes, ranks * min_bytes_per_rank), interference_bytes);
}

template <class Team>
class shared_memory_collectives {
 public:
  explicit shared_memory_collectives(Team& team) : team_(team) {}

  void broadcast(std::span<std::byte> data, int root) {
    const collective_call call{collective::broadcast, {}, root, data.size()};
    const int count = node_count(),
              nodes_behind_root = (my_node() - team_.nodes().node_of(root) + count) % count;
    for_each_piece(data.size(), team_.staging_bytes(), [&](std::size_t first, std::size_t n) {
      const std::size_t offset = team_.next_staging_offset();
      std::byte* const staging = team_.part_of(team_.nodes().my_leader()) + offset;
      if (team_.rank() == root) std::copy_n(data.data() + first, n, staging);
      // In this round the nodes less than `distance` behind the root have the piece. Each of them
      // sends the piece to the node `distance` after itself, unless that is beyond the last node.
      const auto send_with = [&](int distance, int to) {
        if (nodes_behind_root < distance && nodes_behind_root + distance < count)
          team_.put_staging(to, offset, n);
      };
      team_.checked_barrier(call, send_with, nothing, nothing);
      if (team_.rank() != root) std::copy_n(staging, n, data.data() + first);
    });
  }

  void allgather(std::span<const std::byte> data, std::span<std::byte> gathered) {
    const collective_call call{collective::allgather, {}, 0, data.size()};
    for_each_piece(data.size(), team_.staging_bytes() / ranks(),
                   [&](std::size_t first, std::size_t n) {
                     const std::size_t offset = team_.next_staging_offset();
                     std::byte* const staging = team_.part_of(team_.nodes().my_leader()) + offset;
                     std::copy_n(data.data() + first, n, staging + block_index(team_.rank()) * n);
                     const auto send_with = [&](int distance, int to) {
                       put_blocks(distance, to, offset,
                                  [&](int node) { return team_.ranks_before(node) * n; });
                     };
                     team_.checked_barrier(call, send_with, nothing, nothing);
                     for (int peer = 0; peer < team_.size(); ++peer)
                       std::copy_n(staging + block_index(peer) * n, n,
                                   gathered.data() + peer * data.size() + first);
                   });
  }

  /// REQUIRES: one node. Each rank copies its blocks for all ranks into its own staging buffer, and
  /// then copies the blocks for itself out of all staging buffers.
  void alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
    const std::size_t block = outgoing.size() / ranks();
    const collective_call call{collective::alltoall, {}, 0, block};
    for_each_piece(block, team_.staging_bytes() / ranks(), [&](std::size_t first, std::size_t n) {
      const std::size_t offset = team_.next_staging_offset(), own_block = team_.rank() * n;
      std::byte* const staging = team_.part_of(team_.rank()) + offset;
      for (std::size_t peer = 0; peer < ranks(); ++peer)
        std::copy_n(outgoing.data() + peer * block + first, n, staging + peer * n);
      team_.checked_barrier(call, send_nothing, nothing, nothing);
      for (int peer = 0; peer < team_.size(); ++peer)
        std::copy_n(team_.part_of(peer) + offset + own_block, n,
                    incoming.data() + peer * block + first);
    });
  }

  /// Each rank except the first of its node copies its values into its own staging buffer. The
  /// first rank combines the values of the node into one block of its staging buffer. After the
  /// messages between nodes, this buffer holds the blocks of all nodes in order. The first rank
  /// combines these blocks into a result behind the last block. All nodes combine in the same
  /// order, so sums are the same on all ranks.
  template <class T>
  void allreduce(std::span<T> values, reduction operation, collective kind) {
    const collective_call call{kind, operation, 0, values.size()};
    const auto count = static_cast<std::size_t>(node_count()),
               node = static_cast<std::size_t>(my_node());
    for_each_piece(values.size(), team_.staging_bytes() / (count + 1) / sizeof(T),
                   [&](std::size_t first, std::size_t n) {
                     const std::size_t offset = team_.next_staging_offset();
                     const auto staging_of = [&](int peer) {
                       return reinterpret_cast<T*>(team_.part_of(peer) + offset);
                     };
                     T* const piece = values.data() + first;
                     T* const staging = staging_of(team_.nodes().my_leader());
                     T* const result = staging + count * n;
                     if (team_.rank() != team_.nodes().my_leader())
                       std::copy_n(piece, n, staging_of(team_.rank()));
                     const auto combine_node = [&] {
                       T* const block = staging + node * n;
                       std::copy_n(piece, n, block);
                       for (const int peer : team_.nodes().my_ranks())
                         if (peer != team_.rank()) combine(block, staging_of(peer), n, operation);
                     };
                     const auto send_with = [&](int distance, int to) {
                       put_blocks(distance, to, offset,
                                  [&](int before) { return before * n * sizeof(T); });
                     };
                     const auto combine_all = [&] {
                       std::copy_n(staging, n, result);
                       for (std::size_t other = 1; other < count; ++other)
                         combine(result, staging + other * n, n, operation);
                     };
                     team_.checked_barrier(call, send_with, combine_node, combine_all);
                     std::copy_n(result, n, piece);
                   });
  }

  /// Moves the values like an allgather. The root combines them in the order of ranks, however the
  /// ranks are spread over nodes.
  template <class T>
  void reduce(std::span<T> values, reduction operation, int root, collective kind) {
    const collective_call call{kind, operation, root, values.size()};
    for_each_piece(values.size(), team_.staging_bytes() / ranks() / sizeof(T),
                   [&](std::size_t first, std::size_t n) {
                     const std::size_t offset = team_.next_staging_offset();
                     T* const staging =
                         reinterpret_cast<T*>(team_.part_of(team_.nodes().my_leader()) + offset);
                     T* const piece = values.data() + first;
                     std::copy_n(piece, n, staging + block_index(team_.rank()) * n);
                     const auto send_with = [&](int distance, int to) {
                       put_blocks(distance, to, offset, [&](int before) {
                         return team_.ranks_before(before) * n * sizeof(T);
                       });
                     };
                     team_.checked_barrier(call, send_with, nothing, nothing);
                     if (team_.rank() != root) return;
                     std::copy_n(staging + block_index(0) * n, n, piece);
                     for (int peer = 1; peer < team_.size(); ++peer)
                       combine(piece, staging + block_index(peer) * n, n, operation);
                   });
  }

 private:
  static constexpr auto nothing = [] {};
  static constexpr auto send_nothing = [](int, int) {};

  template <class T>
  static void combine(T* into, const T* more, std::size_t count, reduction operation) {
    for (std::size_t i = 0; i < count; ++i) into[i] = combined(into[i], more[i], operation);
  }

  [[nodiscard]] std::size_t ranks() const noexcept {
    return static_cast<std::size_t>(team_.size());
  }
  [[nodiscard]] int node_count() const noexcept { return team_.nodes().node_count(); }
  [[nodiscard]] int my_node() const noexcept { return team_.nodes().my_node(); }
  /// The index of a rank's block. Blocks are ordered by node.
  [[nodiscard]] std::size_t block_index(int peer) const {
    return team_.ranks_before(team_.nodes().node_of(peer)) + team_.nodes().local_index(peer);
  }

  /// Sends blocks of nodes with one message of the barrier. A staging buffer holds one block per
  /// node, in node order; start(node) is the offset of a block. This node has the blocks of the
  /// `distance` nodes that end with itself, and sends the blocks that the receiver does not have
  /// yet.
  template <class Start>
  void put_blocks(int distance, int to, std::size_t offset, const Start& start) {
    const int count = node_count(), end = my_node() + 1,
              first = end - std::min(distance, count - distance);
    const auto put = [&](int begin_node, int end_node) {
      team_.put_staging(to, offset + start(begin_node), start(end_node) - start(begin_node));
    };
    put(std::max(first, 0), end);
    if (first < 0) put(first + count, count);  // the cyclic order continues at the last node
  }

  Team& team_;
};

}  // namespace longshore::detail
