// Makes the buffers, and exchanges them with the other ranks.
#include <longshore/gather/detail/exstack_rounds.hpp>

namespace longshore::detail {

exstack_rounds::exstack_rounds(team& team, std::size_t buffer_items, std::size_t buffer_bytes,
                               bool combine)
    : team_(team),
      ranks_(team.size()),
      buffer_items_(buffer_items),
      stack_(team, buffer_bytes),
      next_(static_cast<std::size_t>(ranks_)) {
  if (combine) recent_.emplace(ranks_, buffer_items);
}

progress exstack_rounds::exchange_requests(const char* operation,
                                           std::span<const std::int64_t> indices,
                                           std::uint64_t table_size, std::size_t filled) {
  if (filled == fill_failed) {
    rounds_ = 0;
    stack_.exchange(progress::failed);
    throw_index_error(operation, indices, table_size, team_.rank());
  }
  const progress of_all =
      stack_.exchange(filled == indices.size() ? progress::done : progress::more);
  if (of_all == progress::failed) {
    rounds_ = 0;
    throw_peer_failed(operation, team_, stack_.failed_rank());
  }
  ++rounds_;
  return of_all;
}

}  // namespace longshore::detail
