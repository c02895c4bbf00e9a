// Exchanges the blocks of an alltoall: cuts them into pieces, and sends and receives pieces to and
// from all ranks in turn until every block is complete.
#include <longshore/transport/one_sided/detail/block_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/stream_ends.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace longshore::one_sided {
namespace {

constexpr int pieces_in_flight = 4;
// A piece of this size is one message over TCP (see ucx/message_channels.hpp).
constexpr std::size_t max_piece_bytes = std::size_t{56} << 10;
constexpr std::size_t min_piece_bytes = 512;
constexpr std::size_t max_memory_bytes = std::size_t{16} << 20;  // per rank, roughly

}  // namespace

block_exchange::block_exchange(longshore::team& ranks) : team_(ranks) {
  const std::size_t copies = 4 * pieces_in_flight * static_cast<std::size_t>(ranks.size());
  piece_bytes_ = std::clamp(max_memory_bytes / copies, min_piece_bytes, max_piece_bytes);
  const int size = ranks.size(), rank = ranks.rank();
  std::vector<int> to, from;
  for (int i = 1; i < size; ++i) {
    to.push_back((rank + i) % size);
    from.push_back((rank + size - i) % size);
  }
  const int between_hosts = slots_between_hosts(
      piece_bytes_, static_cast<std::size_t>(ranks.nodes().most_ranks_off_host()),
      pieces_in_flight);
  const auto ends_of = [&](std::span<const int> peers) {
    return stream_ends(ranks.nodes(), peers, piece_bytes_, pieces_in_flight, between_hosts);
  };
  channels_ = ranks.open_channels(ends_of(to), ends_of(from), pieces_in_flight);
}

// Each rank begins with the next rank, so that no rank receives from all ranks at once.
void block_exchange::exchange(const std::byte* outgoing,
                              std::span<const std::size_t> outgoing_bytes, std::byte* incoming,
                              std::span<const std::size_t> incoming_bytes) {
  const auto size = static_cast<std::size_t>(team_.size()),
             rank = static_cast<std::size_t>(team_.rank());
  std::vector<std::size_t> outgoing_offsets(size), incoming_offsets(size);
  std::exclusive_scan(outgoing_bytes.begin(), outgoing_bytes.end(), outgoing_offsets.begin(),
                      std::size_t{0});
  std::exclusive_scan(incoming_bytes.begin(), incoming_bytes.end(), incoming_offsets.begin(),
                      std::size_t{0});
  std::vector<remaining_block> sending, receiving;
  for (std::size_t i = 1; i < size; ++i) {
    const std::size_t to = (rank + i) % size, from = (rank + size - i) % size;
    if (outgoing_bytes[to] > 0)
      // outgoing blocks are only read
      sending.push_back(
          {i - 1, outgoing_bytes[to], const_cast<std::byte*>(outgoing) + outgoing_offsets[to]});
    if (incoming_bytes[from] > 0)
      receiving.push_back({i - 1, incoming_bytes[from], incoming + incoming_offsets[from]});
  }
  const auto step = [&] {
    bool moved = false;
    for (auto& block : sending) moved = send_piece(block) || moved;
    for (auto& block : receiving) moved = receive_piece(block) || moved;
    const auto is_done = [](const remaining_block& block) { return block.bytes == 0; };
    std::erase_if(sending, is_done);
    std::erase_if(receiving, is_done);
    return moved;
  };
  static_cast<void>(step());
  if (outgoing_bytes[rank] > 0) {
    std::memmove(incoming + incoming_offsets[rank], outgoing + outgoing_offsets[rank],
                 outgoing_bytes[rank]);
    team_.charge_copy(team_.rank(), outgoing_bytes[rank]);
  }
  while (!sending.empty() || !receiving.empty())
    for (waiter wait(team_, "the blocks of an alltoall"); !step(); wait.pause()) {
    }
}

bool block_exchange::send_piece(remaining_block& block) {
  auto& channel = channels_->sender(block.channel);
  std::byte* const slot = channel.reserve();
  if (slot == nullptr) return false;
  const std::size_t bytes = std::min(piece_bytes_, block.bytes);
  team_.charge_copy(team_.rank(), bytes);
  std::memcpy(slot, block.next, bytes);
  channel.commit(bytes);
  block.next += bytes;
  block.bytes -= bytes;
  return true;
}

bool block_exchange::receive_piece(remaining_block& block) {
  auto& channel = channels_->receiver(block.channel);
  const auto piece = channel.front();
  if (!piece) return false;
  const std::size_t expected = std::min(piece_bytes_, block.bytes);
  if (piece->size() != expected)
    fail(errc::usage,
         "alltoall: rank {} sends a piece of {} bytes, and rank {} expects {}: the two ranks pass "
         "different counts",
         channel.peer(), piece->size(), team_.rank(), expected);
  team_.charge_copy(channel.peer(), expected);
  std::memcpy(block.next, piece->data(), expected);
  block.next += expected;
  block.bytes -= expected;
  channel.release();
  return true;
}

}  // namespace longshore::one_sided
