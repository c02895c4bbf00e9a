// Collectives whose result is the same everywhere: it comes to be in a row of memory of each node's first rank, where the ranks of the node write
// and read it. Between nodes it goes with the signals of one meeting, so that a rank is connected with as many others as a meeting has rounds, and
// not with all.
//
// There are two rows, used by turns. Who begins the collective after the next knows that all ranks have come to the next one, and so have taken
// what they need from this one, and that what was put in it has arrived: a meeting makes it so in each of them.
//
// Cost per rank and piece, among N nodes: one meeting of the ranks of a node; of its first rank ceil(log2 N) messages, which together are the
// result (an allgather, an allreduce: N times the values) or, where it is sent on (a broadcast), at most one copy each.
// Allgather: Bruck et al. 1997, IEEE TPDS 8(11), over nodes. Broadcast: a binomial tree.
#include <longshore/transport/one_sided/control_block.hpp>
#include <longshore/transport/one_sided/in_pieces.hpp>
#include <longshore/transport/one_sided/meeting.hpp>
#include <longshore/transport/one_sided/team.hpp>

#include <algorithm>
#include <cstring>

namespace longshore::one_sided {
namespace {

template <class T>
void combine(T* into, const T* more, std::size_t count, reduction operation) {
  for (std::size_t i = 0; i < count; ++i) switch (operation) {
      case reduction::sum: into[i] += more[i]; break;
      case reduction::min: into[i] = std::min(into[i], more[i]); break;
      case reduction::max: into[i] = std::max(into[i], more[i]); break;
    }
}

}  // namespace

std::size_t team::next_row() noexcept { return sizeof(control_block) + (++rows_used_ & 1) * row_bytes_; }

void team::broadcast(std::span<std::byte> data, int root) {
  const int count = nodes().node_count();
  const int behind_root = (nodes().my_node() - nodes().node_of(root) + count) % count;
  in_pieces(data.size(), row_bytes_, [&](std::size_t first, std::size_t n) {
    const std::size_t at = next_row();
    std::byte* const row = control_->reach(my_leader()) + at;
    if (rank() == root) std::memcpy(row, data.data() + first, n);
    meet("a broadcast", [&](int distance, int to) {
      if (behind_root < distance && behind_root + distance < count) control_->put_start(to, at, row, n);
    });
    if (rank() != root) std::memcpy(data.data() + first, row, n);
  });
}

// A row has a block of each node, in their order. A node that has heard of the d nodes up to itself tells the node d after it of them.
template <class Start>
void team::put_blocks(int distance, int to, std::size_t at, const Start& start) {
  const int count = nodes().node_count(), end = nodes().my_node() + 1;
  const int first = end - std::min(distance, count - distance);
  const auto put = [&](int begin_node, int end_node) {
    control_->put_start(to, at + start(begin_node), control_->local() + at + start(begin_node),
                        start(end_node) - start(begin_node));
  };
  put(std::max(first, 0), end);
  if (first < 0) put(first + count, count);
}

void team::allgather(std::span<const std::byte> mine_shown, std::span<std::byte> all) {
  const auto ranks = static_cast<std::size_t>(size());
  const auto place = [this](int peer) {
    return node_starts_[static_cast<std::size_t>(nodes().node_of(peer))] + static_cast<std::size_t>(nodes().local_index(peer));
  };
  in_pieces(mine_shown.size(), row_bytes_ / ranks, [&](std::size_t first, std::size_t n) {
    const std::size_t at = next_row();
    std::byte* const row = control_->reach(my_leader()) + at;
    std::memcpy(row + place(rank()) * n, mine_shown.data() + first, n);
    meet("an allgather", [&](int distance, int to) {
      put_blocks(distance, to, at, [&](int node) { return node_starts_[static_cast<std::size_t>(node)] * n; });
    });
    for (int peer = 0; peer < size(); ++peer)
      std::memcpy(all.data() + static_cast<std::size_t>(peer) * mine_shown.size() + first, row + place(peer) * n, n);
  });
}

// Each rank shows its values in its own row, where nothing else is unless it is the first one of its node. That one combines them into the block
// of its node, and behind the last block, in the order of the nodes, what it hears of all, so that all have the same sums.
template <class T>
void team::allreduce_values(std::span<T> values, reduction operation) {
  const auto node_count = static_cast<std::size_t>(nodes().node_count()), my_node = static_cast<std::size_t>(nodes().my_node());
  in_pieces(values.size(), row_bytes_ / (node_count + 1) / sizeof(T), [&](std::size_t first, std::size_t n) {
    const std::size_t at = next_row();
    const auto row_of = [&](int peer) { return reinterpret_cast<T*>(control_->reach(peer) + at); };
    T* const here = values.data() + first;
    T* const row = row_of(my_leader());
    T* const result = row + node_count * n;
    if (rank() != my_leader()) std::copy_n(here, n, row_of(rank()));
    const auto combine_node = [&] {
      T* const block = row + my_node * n;
      std::copy_n(here, n, block);
      for (const int peer : nodes().my_ranks())
        if (peer != rank()) combine(block, row_of(peer), n, operation);
    };
    const auto carry = [&](int distance, int to) {
      put_blocks(distance, to, at, [&](int node) { return static_cast<std::size_t>(node) * n * sizeof(T); });
    };
    const auto combine_all = [&] {
      std::copy_n(row, n, result);
      for (std::size_t node = 1; node < node_count; ++node) combine(result, row + node * n, n, operation);
    };
    meet("an allreduce", carry, combine_node, combine_all);
    std::copy_n(result, n, here);
  });
}

void team::allreduce(std::span<std::int64_t> values, reduction operation) { allreduce_values(values, operation); }
void team::allreduce(std::span<double> values, reduction operation) { allreduce_values(values, operation); }

}  // namespace longshore::one_sided
