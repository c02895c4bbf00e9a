// Collectives whose data pass through memory that the ranks of a node share: a row of bytes of each
// rank. They need one meeting of the ranks per piece, and no copy more than in and out.
//
// There are two rows, used in turn by meetings. A rank that begins the meeting after the next knows
// that all ranks have come to the next one, and so have taken what they need from this one.
//
// Between nodes the data go with the messages of the meeting, so that a first rank of a node is
// connected with as many others as a meeting has rounds, and not with all. A transport whose ranks
// share one node has no such messages.
//
// `Team` is the team of a transport, with
//   row_bytes()                           of one row;
//   next_row()                            where the row of the next meeting lies, in the memory of each rank;
//   reach(rank)                           the memory of a rank of this node;
//   put_row(to, at, bytes)                starts to copy own memory to the same place of a rank on another node;
//   my_leader()                           the first rank of this node;
//   ranks_before(node)                    how many ranks are on the nodes before it;
//   meet(call, carry, before, after)      a barrier. Only the first rank of a node calls them: before() when all ranks of
//                                         the node are here; carry(distance, to) to send what goes with the message to
//                                         rank `to`, the first of the node `distance` after this one, 1, 2, 4, ...;
//                                         after() when all nodes have been heard of and no rank is let go yet.
//
// Cost per rank and piece, among N nodes: one meeting of the ranks of a node; of its first rank
// ceil(log2 N) messages, which together are the result (an allgather, an allreduce: N times the
// values) or, where it is sent on (a broadcast), at most one copy each. Allgather: Bruck et al.
// 1997, IEEE TPDS 8(11), over nodes. Broadcast: a binomial tree.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/detail/collective_call.hpp>
#include <longshore/transport/detail/in_pieces.hpp>
#include <longshore/transport/node_map.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace longshore::detail {

/// Bytes of a row that has room for something of each rank.
[[nodiscard]] inline std::size_t row_bytes_for(std::size_t ranks,
                                               std::size_t least_bytes) noexcept {
  constexpr std::size_t least_bytes_per_rank = 64;
  return round_up(std::max(least_bytes, ranks * least_bytes_per_rank), interference_bytes);
}

template <class Team>
class row_collectives {
 public:
  explicit row_collectives(Team& team) : team_(team) {}

  void broadcast(std::span<std::byte> data, int root) {
    const collective_call call{collective::broadcast, {}, root, data.size()};
    const int count = node_count(),
              behind_root = (my_node() - team_.nodes().node_of(root) + count) % count;
    in_pieces(data.size(), team_.row_bytes(), [&](std::size_t first, std::size_t n) {
      const std::size_t at = team_.next_row();
      std::byte* const row = team_.reach(team_.my_leader()) + at;
      if (team_.rank() == root) std::copy_n(data.data() + first, n, row);
      const auto carry = [&](int distance, int to) {
        if (behind_root < distance && behind_root + distance < count) team_.put_row(to, at, n);
      };
      team_.meet(call, carry, nothing, nothing);
      if (team_.rank() != root) std::copy_n(row, n, data.data() + first);
    });
  }

  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
    const collective_call call{collective::allgather, {}, 0, mine.size()};
    in_pieces(mine.size(), team_.row_bytes() / ranks(), [&](std::size_t first, std::size_t n) {
      const std::size_t at = team_.next_row();
      std::byte* const row = team_.reach(team_.my_leader()) + at;
      std::copy_n(mine.data() + first, n, row + place(team_.rank()) * n);
      const auto carry = [&](int distance, int to) {
        put_blocks(distance, to, at, [&](int node) { return team_.ranks_before(node) * n; });
      };
      team_.meet(call, carry, nothing, nothing);
      for (int peer = 0; peer < team_.size(); ++peer)
        std::copy_n(row + place(peer) * n, n,
                    all.data() + static_cast<std::size_t>(peer) * mine.size() + first);
    });
  }

  /// REQUIRES: one node. Each rank shows what it has for the others, and takes what they have for
  /// it.
  void alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
    const std::size_t block = outgoing.size() / ranks();
    const collective_call call{collective::alltoall, {}, 0, block};
    in_pieces(block, team_.row_bytes() / ranks(), [&](std::size_t first, std::size_t n) {
      const std::size_t at = team_.next_row(), mine = static_cast<std::size_t>(team_.rank()) * n;
      std::byte* const row = team_.reach(team_.rank()) + at;
      for (std::size_t peer = 0; peer < ranks(); ++peer)
        std::copy_n(outgoing.data() + peer * block + first, n, row + peer * n);
      team_.meet(call, nothing_to_carry, nothing, nothing);
      for (int peer = 0; peer < team_.size(); ++peer)
        std::copy_n(team_.reach(peer) + at + mine, n,
                    incoming.data() + static_cast<std::size_t>(peer) * block + first);
    });
  }

  /// Each rank shows its values in its own row, where nothing else is unless it is the first one of
  /// its node. That one combines them into the block of its node, and behind the last block, in the
  /// order of the nodes, what it hears of all, so that all have the same sums.
  template <class T>
  void allreduce(std::span<T> values, reduction operation, collective what) {
    const collective_call call{what, operation, 0, values.size()};
    const auto count = static_cast<std::size_t>(node_count()),
               node = static_cast<std::size_t>(my_node());
    in_pieces(values.size(), team_.row_bytes() / (count + 1) / sizeof(T),
              [&](std::size_t first, std::size_t n) {
                const std::size_t at = team_.next_row();
                const auto row_of = [&](int peer) {
                  return reinterpret_cast<T*>(team_.reach(peer) + at);
                };
                T* const here = values.data() + first;
                T* const row = row_of(team_.my_leader());
                T* const result = row + count * n;
                if (team_.rank() != team_.my_leader()) std::copy_n(here, n, row_of(team_.rank()));
                const auto combine_node = [&] {
                  T* const block = row + node * n;
                  std::copy_n(here, n, block);
                  for (const int peer : team_.nodes().my_ranks())
                    if (peer != team_.rank()) combine(block, row_of(peer), n, operation);
                };
                const auto carry = [&](int distance, int to) {
                  put_blocks(distance, to, at, [&](int before) {
                    return static_cast<std::size_t>(before) * n * sizeof(T);
                  });
                };
                const auto combine_all = [&] {
                  std::copy_n(row, n, result);
                  for (std::size_t other = 1; other < count; ++other)
                    combine(result, row + other * n, n, operation);
                };
                team_.meet(call, carry, combine_node, combine_all);
                std::copy_n(result, n, here);
              });
  }

 private:
  static constexpr auto nothing = [] {};
  static constexpr auto nothing_to_carry = [](int, int) {};

  template <class T>
  static void combine(T* into, const T* more, std::size_t count, reduction operation) {
    for (std::size_t i = 0; i < count; ++i) into[i] = combined(into[i], more[i], operation);
  }

  [[nodiscard]] std::size_t ranks() const noexcept {
    return static_cast<std::size_t>(team_.size());
  }
  [[nodiscard]] int node_count() const noexcept { return team_.nodes().node_count(); }
  [[nodiscard]] int my_node() const noexcept { return team_.nodes().my_node(); }
  /// Of a rank in the order of the nodes.
  [[nodiscard]] std::size_t place(int peer) const {
    return team_.ranks_before(team_.nodes().node_of(peer)) +
           static_cast<std::size_t>(team_.nodes().local_index(peer));
  }

  /// A row has a block of each node, in their order; start(node) bytes lie before it. A node that
  /// has heard of the d nodes up to itself tells the node d after it of them.
  template <class Start>
  void put_blocks(int distance, int to, std::size_t at, const Start& start) {
    const int count = node_count(), end = my_node() + 1,
              first = end - std::min(distance, count - distance);
    const auto put = [&](int begin_node, int end_node) {
      team_.put_row(to, at + start(begin_node), start(end_node) - start(begin_node));
    };
    put(std::max(first, 0), end);
    if (first < 0) put(first + count, count);
  }

  Team& team_;
};

}  // namespace longshore::detail
