// Chooses between collective calls and channels.
#include <longshore/exchange/detail/agreement/messenger.hpp>

#include <longshore/exchange/detail/agreement/learn_sources.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace longshore::detail {
namespace {

constexpr int min_ranks_with_channels = 64;

}  // namespace

bool messenger::has_channels(const team& ranks) noexcept {
  return ranks.size() >= min_ranks_with_channels;
}

messenger::messenger(team& ranks, std::vector<int> peers)
    : ranks_(ranks), peers_(std::move(peers)) {
  if (has_channels(ranks)) channels_.emplace(ranks, peers_);
}

std::shared_ptr<messenger> messenger::to(team& ranks, std::span<const int> destinations) {
  std::vector<int> peers;
  if (has_channels(ranks)) {
    const auto sources = learn_sources(ranks, destinations);
    std::set_union(destinations.begin(), destinations.end(), sources.begin(), sources.end(),
                   std::back_inserter(peers));
  } else {
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (rank != ranks.rank()) peers.push_back(rank);
  }
  return std::make_shared<messenger>(ranks, std::move(peers));
}

bool messenger::reaches(std::span<const int> destinations) const {
  const bool are_peers =
      std::includes(peers_.begin(), peers_.end(), destinations.begin(), destinations.end());
  return ranks_.allreduce_value<int>(are_peers, reduction::min) != 0;
}

std::vector<std::vector<std::byte>> messenger::exchange(
    const std::vector<std::vector<std::byte>>& messages, const agreed_numbers& numbers,
    const when_agreed& agreed) {
  std::vector<std::size_t> all(peers_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return exchange_with(all, messages, numbers, agreed);
}

std::vector<std::vector<std::byte>> messenger::exchange_with(
    std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages,
    const agreed_numbers& numbers, const when_agreed& agreed) {
  if (channels_) {
    auto largest = numbers;
    ranks_.allreduce(std::span(largest), reduction::max);
    agreed(largest);
    return channels_->exchange_with(which, messages);
  }
  const auto rank_of = [&](std::size_t i) { return static_cast<std::size_t>(peers_[i]); };
  std::vector<std::vector<std::byte>> by_rank(static_cast<std::size_t>(ranks_.size()));
  for (std::size_t k = 0; k < which.size(); ++k) by_rank[rank_of(which[k])] = messages[k];
  by_rank = exchange_with_all(ranks_, by_rank, numbers, agreed);
  std::vector<std::vector<std::byte>> received;
  for (const auto i : which) received.push_back(std::move(by_rank[rank_of(i)]));
  return received;
}

}  // namespace longshore::detail
