// Chooses between collective calls and channels.
#include <longshore/ghost/detail/messenger.hpp>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace longshore::detail {
namespace {

constexpr int max_ranks_without_channels = 64;

}  // namespace

messenger::messenger(team& ranks, std::vector<int> peers)
    : ranks_(ranks), peers_(std::move(peers)), mappings_(ranks.is_one_process()) {
  if (ranks.size() > max_ranks_without_channels) channels_.emplace(ranks, peers_);
}

std::vector<std::vector<std::byte>> messenger::exchange(
    const std::vector<std::vector<std::byte>>& messages) {
  std::vector<std::size_t> all(peers_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return exchange_with(all, messages);
}

std::vector<std::vector<std::byte>> messenger::exchange_with(
    std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages) {
  if (channels_) return channels_->exchange_with(which, messages);
  const auto size = static_cast<std::size_t>(ranks_.size());
  std::vector<std::size_t> counts(size), incoming_counts(size);
  std::vector<std::byte> outgoing;
  for (std::size_t k = 0; k < which.size(); ++k) {
    counts[static_cast<std::size_t>(peers_[which[k]])] = messages[k].size();
    outgoing.insert(outgoing.end(), messages[k].begin(), messages[k].end());
  }
  ranks_.alltoall(std::as_bytes(std::span(counts)),
                  std::as_writable_bytes(std::span(incoming_counts)));
  std::vector<std::byte> incoming(
      std::accumulate(incoming_counts.begin(), incoming_counts.end(), std::size_t{0}));
  ranks_.alltoallv(outgoing.data(), counts, incoming.data(), incoming_counts, 1);
  std::vector<std::vector<std::byte>> received;
  auto next = incoming.begin();
  for (const auto i : which) {
    const auto bytes =
        static_cast<std::ptrdiff_t>(incoming_counts[static_cast<std::size_t>(peers_[i])]);
    received.emplace_back(next, next + bytes);
    next += bytes;
  }
  return received;
}

std::vector<std::vector<std::byte>> messenger::exchange_equal(
    std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages,
    std::size_t bytes) {
  if (channels_) return channels_->exchange_with(which, messages);
  const auto block_of = [&](std::vector<std::byte>& blocks, std::size_t peer) {
    return blocks.begin() +
           static_cast<std::ptrdiff_t>(static_cast<std::size_t>(peers_[peer]) * bytes);
  };
  std::vector<std::byte> outgoing(static_cast<std::size_t>(ranks_.size()) * bytes),
      incoming(outgoing.size());
  for (std::size_t k = 0; k < which.size(); ++k) {
    assert(messages[k].size() == bytes);
    std::copy(messages[k].begin(), messages[k].end(), block_of(outgoing, which[k]));
  }
  ranks_.alltoall(outgoing, incoming);
  std::vector<std::vector<std::byte>> received;
  for (const auto i : which) {
    const auto block = block_of(incoming, i);
    received.emplace_back(block, block + static_cast<std::ptrdiff_t>(bytes));
  }
  return received;
}

}  // namespace longshore::detail
