// Makes the queues of outstanding requests, and keeps those that are lists.
#include <longshore/aggregate/detail/outstanding_requests.hpp>

#include <bit>

namespace longshore::detail {
namespace {

std::size_t ring_size_for(std::size_t ranks, std::size_t window_items) {
  const std::size_t share = std::bit_ceil(2 * window_items / ranks);
  return smaller(window_items, larger(outstanding_requests::min_ring_size, share));
}

}  // namespace

outstanding_requests::outstanding_requests(int ranks, std::size_t window_items)
    : has_rings_(ranks <= max_rings),
      ring_size_(ring_size_for(static_cast<std::size_t>(ranks), window_items)),
      mask_(static_cast<std::uint32_t>(ring_size_ - 1)) {
  const auto rank_count = static_cast<std::size_t>(ranks);
  if (has_rings_) {
    numbers_.resize(rank_count * ring_size_);
    rings_.resize(rank_count);
    return;
  }
  newest_.assign(rank_count, no_entry);
  entries_.resize(window_items);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) entries_[i].next = i + 1;
}

void outstanding_requests::add_to_list(int rank, std::uint32_t number) noexcept {
  const std::uint32_t added = free_;
  free_ = entries_[added].next;
  // A list is a circle: its newest entry leads to its oldest.
  std::uint32_t& newest = newest_[rank];
  std::uint32_t oldest = added;
  if (newest != no_entry) {
    oldest = entries_[newest].next;
    entries_[newest].next = added;
  }
  entries_[added] = {oldest, number};
  newest = added;
}

std::uint32_t outstanding_requests::take_from_list(int rank) noexcept {
  std::uint32_t& newest = newest_[rank];
  const std::uint32_t taken = entries_[newest].next;
  if (taken == newest)
    newest = no_entry;
  else
    entries_[newest].next = entries_[taken].next;
  entries_[taken].next = free_;
  free_ = taken;
  return entries_[taken].number;
}

}  // namespace longshore::detail
