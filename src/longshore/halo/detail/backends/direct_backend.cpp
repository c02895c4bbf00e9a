// Runs exchanges of mode direct: signals that this rank's cells are ready, and copies the cells of
// each neighbour that has signalled.
#include <longshore/halo/detail/backends/direct_backend.hpp>

#include <cassert>

namespace longshore::detail {

direct_backend::direct_backend(team& ranks, direct_messages messages,
                               const backend_options& options)
    : ranks_(ranks),
      messages_(std::move(messages)),
      workers_(options.workers),
      touched_bytes_(options.touched_bytes) {
  links_to_read_.reserve(messages_.links.size());
  links_being_read_.reserve(messages_.links.size());
}

void direct_backend::start() {
  assert(links_to_read_.empty() && links_being_read_.empty());
  ++exchange_number_;
  for (std::size_t i = 0; i < messages_.links.size(); ++i) {
    if (messages_.links[i].peer_reads) {
      signal(ranks_, messages_.links[i].signals_to_peer->ready, exchange_number_,
             messages_.links[i].peer);
      links_being_read_.push_back(i);
    }
    if (!messages_.links[i].copies.empty()) links_to_read_.push_back(i);
  }
}

void direct_backend::progress() {
  before_polls(ranks_);
  for (std::size_t i = 0; i < links_to_read_.size();) {
    const auto& link = messages_.links[links_to_read_[i]];
    if (link.signals_from_peer->ready.load(std::memory_order_acquire) < exchange_number_) {
      ++i;
      continue;
    }
    link.copies.run(workers_);
    ranks_.charge_copy(link.peer,
                       {link.copies.line_bytes(), link.copies.line_count(), touched_bytes_});
    signal(ranks_, link.signals_to_peer->taken, exchange_number_, link.peer);
    links_to_read_[i] = links_to_read_.back();
    links_to_read_.pop_back();
  }
  std::erase_if(links_being_read_, [&](std::size_t i) {
    return messages_.links[i].signals_from_peer->taken.load(std::memory_order_acquire) >=
           exchange_number_;
  });
}

int direct_backend::awaited_peer() const {
  return messages_
      .links[links_to_read_.empty() ? links_being_read_.front() : links_to_read_.front()]
      .peer;
}

}  // namespace longshore::detail
