// Collectives, segments and channels of ranks that are threads. Between two barriers, a rank shows
// a pointer to its data, and other ranks copy from there.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/channel_slots.hpp>
#include <longshore/transport/detail/ring_channels.hpp>
#include <longshore/transport/threads/detail/segment.hpp>
#include <longshore/transport/threads/detail/team.hpp>

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
      barrier_(&shared.barrier, shared.call_slots.data(), shared.ranks(), rank) {}

template <class T, class Read>
void team::share(const collective_call& call, const T& own, const Read& read) {
  shared_.posted[rank()] = &own;
  checked_barrier(call);
  for (int peer = 0; peer < size(); ++peer)
    read(peer, *static_cast<const T*>(shared_.posted[peer]));
  checked_barrier(call);
}

void team::broadcast(std::span<std::byte> data, int root) {
  detail::check_root(collective::broadcast, root, size());
  share({collective::broadcast, {}, root, data.size()}, data,
        [&](int peer, const std::span<std::byte>& peer_data) {
          if (peer == root && peer != rank())
            copy_bytes(data.data(), peer_data.data(), data.size());
        });
}

void team::allgather(std::span<const std::byte> data, std::span<std::byte> gathered) {
  share({collective::allgather, {}, 0, data.size()}, data,
        [&](int peer, const std::span<const std::byte>& peer_data) {
          copy_bytes(gathered.data() + peer * data.size(), peer_data.data(), peer_data.size());
        });
}

void team::alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  const std::size_t block = outgoing.size() / size();
  share({collective::alltoall, {}, 0, block}, outgoing,
        [&](int peer, const std::span<const std::byte>& peer_data) {
          copy_bytes(incoming.data() + peer * block, peer_data.data() + rank() * block, block);
        });
}

void team::alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                     std::byte* incoming, std::span<const std::size_t> incoming_counts,
                     std::size_t element_bytes) {
  struct blocks {
    const std::byte* data;
    std::span<const std::size_t> counts;
    std::vector<std::size_t> starts;
  } own{outgoing, outgoing_counts, std::vector<std::size_t>(outgoing_counts.size())};
  std::exclusive_scan(outgoing_counts.begin(), outgoing_counts.end(), own.starts.begin(),
                      std::size_t{0});
  // Reported at the end, so that the other ranks do not wait for this rank.
  int wrong_peer = -1;
  std::size_t wrong_count = 0;
  share({collective::alltoallv, {}, 0, element_bytes}, own, [&](int peer, const blocks& sent) {
    if (sent.counts[rank()] != incoming_counts[peer]) {
      if (wrong_peer < 0) wrong_count = sent.counts[rank()];
      wrong_peer = wrong_peer < 0 ? peer : wrong_peer;
      return;
    }
    const std::size_t bytes = incoming_counts[peer] * element_bytes;
    copy_bytes(incoming, sent.data + sent.starts[rank()] * element_bytes, bytes);
    incoming += bytes;
  });
  if (wrong_peer >= 0)
    detail::fail_count_mismatch(rank(), wrong_peer, incoming_counts[wrong_peer], wrong_count);
}

template <class T>
void team::combine_values(const collective_call& call, std::span<T> values, bool has_result) {
  std::vector<T> result;
  share(call, values, [&](int, const std::span<T>& peer_values) {
    if (!has_result) return;
    if (result.empty())
      result.assign(peer_values.begin(), peer_values.end());
    else
      std::transform(result.begin(), result.end(), peer_values.begin(), result.begin(),
                     [&](T a, T b) { return combined(a, b, call.operation); });
  });
  std::copy(result.begin(), result.end(), values.begin());
}

void team::allreduce(std::span<std::int64_t> values, reduction operation) {
  combine_values({collective::allreduce_integers, operation, 0, values.size()}, values, true);
}
void team::allreduce(std::span<double> values, reduction operation) {
  combine_values({collective::allreduce_numbers, operation, 0, values.size()}, values, true);
}
void team::reduce(std::span<std::int64_t> values, reduction operation, int root) {
  detail::check_root(collective::reduce_integers, root, size());
  combine_values({collective::reduce_integers, operation, root, values.size()}, values,
                 rank() == root);
}
void team::reduce(std::span<double> values, reduction operation, int root) {
  detail::check_root(collective::reduce_numbers, root, size());
  combine_values({collective::reduce_numbers, operation, root, values.size()}, values,
                 rank() == root);
}

namespace {

// Rank 0 makes an object for all ranks. If that fails, each rank throws its own exception object. A
// shared exception would be freed by its last reader, in an order that ThreadSanitizer cannot see.
template <class T, class Make>
std::shared_ptr<T> make_on_rank_0(longshore::team& team, shared_state& shared, const Make& make) {
  struct result {
    std::shared_ptr<T> object;
    errc code{};
    std::string failure;
  } own;
  if (team.rank() == 0) {
    try {
      own.object = make();
    } catch (const error& e) {
      own.code = e.code();
      own.failure = e.what();
    }
    shared.posted[0] = &own;
  }
  team.barrier();
  const result of_rank_0 = *static_cast<const result*>(shared.posted[0]);
  team.barrier();
  if (!of_rank_0.failure.empty()) throw error(of_rank_0.code, of_rank_0.failure);
  return of_rank_0.object;
}

}  // namespace

std::unique_ptr<longshore::segment> team::allocate(std::size_t bytes) {
  checked_barrier({collective::allocate});
  const auto smallest = allreduce_value(bytes, reduction::min),
             largest = allreduce_value(bytes, reduction::max);
  if (smallest != largest) detail::fail_size_mismatch(rank(), bytes, smallest, largest);
  auto block = make_on_rank_0<shared_block>(*this, shared_, [&] {
    return std::make_shared<shared_block>(bytes, size(), !waiting().spin);
  });
  return std::make_unique<segment>(*this, std::move(block), bytes);
}

std::unique_ptr<channel_set> team::open_channels(std::span<const channel_end> to,
                                                 std::span<const channel_end> from, int slots) {
  const auto senders = detail::with_slots(to, slots), receivers = detail::with_slots(from, slots);
  const auto packing = detail::ring_channels::packing_for(*this, senders);
  auto bytes = detail::ring_channels::needed_bytes(senders, packing);
  combine_values({collective::open_channels, reduction::max}, std::span(&bytes, 1), true);
  auto block = make_on_rank_0<shared_block>(*this, shared_, [&] {
    return std::make_shared<shared_block>(bytes, size(), !waiting().spin);
  });
  auto rings = std::make_unique<detail::ring_channels>(senders, block->part(rank()), packing);
  checked_barrier({collective::open_channels});
  rings->connect(receivers, rank(), [&](int peer) { return block->part(peer); });
  return std::make_unique<channels>(std::move(block), std::move(rings));
}

}  // namespace longshore::threads
