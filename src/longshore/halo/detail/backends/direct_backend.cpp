#include <longshore/halo/detail/backends/direct_backend.hpp>

#include <cassert>

namespace longshore::detail {

direct_backend::direct_backend(std::vector<direct_link> links,
                               std::vector<std::shared_ptr<const void>> keep,
                               std::vector<const std::byte*> received, traffic moved,
                               tasks* workers)
    : links_(std::move(links)),
      keep_(std::move(keep)),
      received_(std::move(received)),
      moved_(moved),
      workers_(workers) {
  to_read_.reserve(links_.size());
  read_by_.reserve(links_.size());
}

void direct_backend::start() {
  assert(to_read_.empty() && read_by_.empty());
  ++exchange_;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].is_read) {
      links_[i].theirs->ready.store(exchange_, std::memory_order_release);
      read_by_.push_back(i);
    }
    if (!links_[i].copies.empty()) to_read_.push_back(i);
  }
}

void direct_backend::progress() {
  for (std::size_t i = 0; i < to_read_.size();) {
    const auto& link = links_[to_read_[i]];
    if (link.mine->ready.load(std::memory_order_acquire) < exchange_) {
      ++i;
      continue;
    }
    link.copies.run(workers_);
    link.theirs->taken.store(exchange_, std::memory_order_release);
    to_read_[i] = to_read_.back();
    to_read_.pop_back();
  }
  std::erase_if(read_by_, [&](std::size_t i) {
    return links_[i].mine->taken.load(std::memory_order_acquire) >= exchange_;
  });
}

int direct_backend::awaited_peer() const {
  return links_[to_read_.empty() ? read_by_.front() : to_read_.front()].peer;
}

}  // namespace longshore::detail
