#include <longshore/sort/detail/put_scan_exchange.hpp>

namespace longshore::detail {

put_scan_exchange::put_scan_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
                                     bool direct)
    : block_exchange(team, item_bytes),
      targets_(std::move(targets)),
      direct_(direct),
      places_(static_cast<std::size_t>(team.size())) {}

std::byte* put_scan_exchange::grow_incoming(std::size_t, std::size_t most_bytes) {
  return buffer_.grow(team_, most_bytes);
}

void put_scan_exchange::prepare_transfer(const block_counts&) {
  team_.alltoall(std::as_bytes(std::span(incoming_starts_.data(), places_.size())),
                 std::as_writable_bytes(std::span(places_)));
  count_to_all(sizeof(std::size_t));
  if (!direct_) return;
  direct_destinations_.resize(places_.size());
  for (int target = 0; target < team_.size(); ++target) {
    std::byte* const memory = buffer_.memory().direct(target);
    direct_destinations_[target] = memory == nullptr ? nullptr : memory + places_[target];
  }
}

void put_scan_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  if (!direct_) copy_own_block(outgoing, nullptr);
  for (const int target : targets_) {
    if (bytes_to(target) == 0 || (direct_ && direct_destinations_[target] != nullptr)) continue;
    buffer_.memory().put_start(target, places_[target], outgoing + outgoing_starts_[target],
                               bytes_to(target));
    count_message(target, bytes_to(target));
  }
  buffer_.memory().quiet();
}

}  // namespace longshore::detail
