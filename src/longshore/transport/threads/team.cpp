#include <longshore/core/error.hpp>
#include <longshore/transport/detail/ring_channels.hpp>
#include <longshore/transport/threads/segment.hpp>
#include <longshore/transport/threads/team.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace longshore::threads {
namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

class channels final : public channel_set {
 public:
  channels(std::shared_ptr<shared_block> memory, std::unique_ptr<detail::ring_channels> rings)
      : memory_(std::move(memory)), rings_(std::move(rings)) {
    for (auto& sender : rings_->senders) senders_.push_back(&sender);
    for (auto& receiver : rings_->receivers) receivers_.push_back(&receiver);
  }

 private:
  std::shared_ptr<shared_block> memory_;
  std::unique_ptr<detail::ring_channels> rings_;
};

}  // namespace

team::team(shared_state& shared, int rank, node_map nodes, wait_policy waiting,
           std::vector<int> cpus)
    : longshore::team(rank, shared.ranks(), std::move(nodes), waiting, std::move(cpus)),
      shared_(shared),
      barrier_(&shared.barrier, shared.calls.data(), shared.ranks(), rank) {}

template <class T, class Read>
void team::share(const detail::collective_call& call, const T& mine, const Read& read) {
  shared_.posted[rank()] = &mine;
  checked_barrier(call);
  for (int peer = 0; peer < size(); ++peer)
    read(peer, *static_cast<const T*>(shared_.posted[peer]));
  checked_barrier(call);
}

void team::broadcast(std::span<std::byte> data, int root) {
  detail::check_root(root, size());
  share({detail::collective::broadcast, {}, root, data.size()}, data,
        [&](int peer, const std::span<std::byte>& theirs) {
          if (peer == root && peer != rank()) copy_bytes(data.data(), theirs.data(), data.size());
        });
}

void team::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  share({detail::collective::allgather, {}, 0, mine.size()}, mine,
        [&](int peer, const std::span<const std::byte>& theirs) {
          copy_bytes(all.data() + static_cast<std::size_t>(peer) * mine.size(), theirs.data(),
                     theirs.size());
        });
}

void team::alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  const std::size_t block = outgoing.size() / static_cast<std::size_t>(size());
  share({detail::collective::alltoall, {}, 0, block}, outgoing,
        [&](int peer, const std::span<const std::byte>& theirs) {
          copy_bytes(incoming.data() + static_cast<std::size_t>(peer) * block,
                     theirs.data() + static_cast<std::size_t>(rank()) * block, block);
        });
}

void team::alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                     std::byte* incoming, std::span<const std::size_t> incoming_counts,
                     std::size_t element_bytes) {
  struct blocks {
    const std::byte* data;
    std::span<const std::size_t> counts;
    std::vector<std::size_t> starts;
  } mine{outgoing, outgoing_counts, std::vector<std::size_t>(outgoing_counts.size())};
  std::exclusive_scan(outgoing_counts.begin(), outgoing_counts.end(), mine.starts.begin(),
                      std::size_t{0});
  // reported at the end, so that the other ranks do not wait for this one
  int wrong_peer = -1;
  std::size_t wrong_count = 0;
  share({detail::collective::alltoallv, {}, 0, element_bytes}, mine,
        [&](int peer, const blocks& theirs) {
          if (theirs.counts[rank()] != incoming_counts[peer]) {
            if (wrong_peer < 0) wrong_count = theirs.counts[rank()];
            wrong_peer = wrong_peer < 0 ? peer : wrong_peer;
            return;
          }
          const std::size_t bytes = incoming_counts[peer] * element_bytes;
          copy_bytes(incoming, theirs.data + theirs.starts[rank()] * element_bytes, bytes);
          incoming += bytes;
        });
  if (wrong_peer >= 0)
    detail::fail_count_mismatch(rank(), wrong_peer, incoming_counts[wrong_peer], wrong_count);
}

template <class T>
void team::allreduce_values(std::span<T> values, reduction operation, detail::collective what) {
  std::vector<T> result;
  share({what, operation, 0, values.size()}, values, [&](int, const std::span<T>& theirs) {
    if (result.empty())
      result.assign(theirs.begin(), theirs.end());
    else
      std::transform(result.begin(), result.end(), theirs.begin(), result.begin(),
                     [&](T a, T b) { return combined(a, b, operation); });
  });
  std::copy(result.begin(), result.end(), values.begin());
}

void team::allreduce(std::span<std::int64_t> values, reduction operation) {
  allreduce_values(values, operation, detail::collective::allreduce_integers);
}
void team::allreduce(std::span<double> values, reduction operation) {
  allreduce_values(values, operation, detail::collective::allreduce_numbers);
}

namespace {

// Rank 0 makes an object for all ranks. If that fails, each rank throws an exception object of its
// own. A shared one would be freed by its last reader, in an order that ThreadSanitizer cannot see.
template <class T, class Make>
std::shared_ptr<T> make_on_rank_0(longshore::team& team, shared_state& shared, const Make& make) {
  struct result {
    std::shared_ptr<T> object;
    errc code{};
    std::string failure;
  } mine;
  if (team.rank() == 0) {
    try {
      mine.object = make();
    } catch (const error& e) {
      mine.code = e.code();
      mine.failure = e.what();
    }
    shared.posted[0] = &mine;
  }
  team.barrier();
  const result made = *static_cast<const result*>(shared.posted[0]);
  team.barrier();
  if (!made.failure.empty()) throw error(made.code, made.failure);
  return made.object;
}

}  // namespace

std::unique_ptr<longshore::segment> team::allocate(std::size_t bytes) {
  checked_barrier({.kind = detail::collective::allocate});
  const auto smallest = allreduce_value(bytes, reduction::min),
             largest = allreduce_value(bytes, reduction::max);
  if (smallest != largest)
    fail(errc::usage,
         "a segment must have the same size on all ranks: rank {} requests {} bytes, the ranks "
         "request {} to {}",
         rank(), bytes, smallest, largest);
  auto block = make_on_rank_0<shared_block>(
      *this, shared_, [&] { return std::make_shared<shared_block>(bytes, size()); });
  return std::make_unique<segment>(*this, std::move(block), bytes);
}

std::unique_ptr<channel_set> team::open_channels(std::span<const channel_end> to,
                                                 std::span<const channel_end> from, int slots) {
  if (slots < 1) fail(errc::usage, "a channel needs at least 1 slot, not {}", slots);
  checked_barrier({.kind = detail::collective::open_channels});
  const std::size_t bytes =
      allreduce_value(detail::ring_channels::needed_bytes(to, slots), reduction::max);
  auto block = make_on_rank_0<shared_block>(
      *this, shared_, [&] { return std::make_shared<shared_block>(bytes, size()); });
  auto rings = std::make_unique<detail::ring_channels>(
      to, from, slots, rank(), [&](int peer) { return block->part(peer); },
      [&] { checked_barrier({.kind = detail::collective::open_channels}); });
  // no rank writes into a ring before its reader has found it
  checked_barrier({.kind = detail::collective::open_channels});
  return std::make_unique<channels>(std::move(block), std::move(rings));
}

}  // namespace longshore::threads
