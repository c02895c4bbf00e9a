#include <longshore/transport/one_sided/block_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace longshore::one_sided {
namespace {

constexpr int pieces_in_flight = 4;
// sent over TCP as one message
constexpr std::size_t most_piece_bytes = std::size_t{56} << 10;
constexpr std::size_t least_piece_bytes = 512;
constexpr std::size_t most_memory_bytes = std::size_t{16} << 20;  // of a rank, roughly

}  // namespace

block_exchange::block_exchange(longshore::team& ranks) : team_(ranks) {
  const std::size_t copies = 4 * pieces_in_flight * static_cast<std::size_t>(ranks.size());
  piece_bytes_ = std::clamp(most_memory_bytes / copies, least_piece_bytes, most_piece_bytes);
  const int size = ranks.size(), rank = ranks.rank();
  std::vector<channel_end> to, from;
  for (int i = 1; i < size; ++i) {
    to.push_back({(rank + i) % size, piece_bytes_});
    from.push_back({(rank + size - i) % size, piece_bytes_});
  }
  channels_ = ranks.open_channels(to, from, pieces_in_flight);
}

// Each rank begins with the rank after it, so that no rank receives from all at once.
void block_exchange::exchange(const std::byte* outgoing,
                              std::span<const std::size_t> outgoing_bytes, std::byte* incoming,
                              std::span<const std::size_t> incoming_bytes) {
  const auto size = static_cast<std::size_t>(team_.size()),
             rank = static_cast<std::size_t>(team_.rank());
  std::vector<std::size_t> out_at(size), in_at(size);
  std::exclusive_scan(outgoing_bytes.begin(), outgoing_bytes.end(), out_at.begin(), std::size_t{0});
  std::exclusive_scan(incoming_bytes.begin(), incoming_bytes.end(), in_at.begin(), std::size_t{0});
  std::vector<block> sending, receiving;
  for (std::size_t i = 1; i < size; ++i) {
    const std::size_t to = (rank + i) % size, from = (rank + size - i) % size;
    if (outgoing_bytes[to] > 0)
      // outgoing blocks are only read
      sending.push_back({i - 1, outgoing_bytes[to], const_cast<std::byte*>(outgoing) + out_at[to]});
    if (incoming_bytes[from] > 0)
      receiving.push_back({i - 1, incoming_bytes[from], incoming + in_at[from]});
  }
  const auto step = [&] {
    bool moved = false;
    for (auto& rest : sending) moved = send(rest) || moved;
    for (auto& rest : receiving) moved = receive(rest) || moved;
    const auto is_done = [](const block& rest) { return rest.left_bytes == 0; };
    std::erase_if(sending, is_done);
    std::erase_if(receiving, is_done);
    return moved;
  };
  static_cast<void>(step());
  if (outgoing_bytes[rank] > 0)
    std::memmove(incoming + in_at[rank], outgoing + out_at[rank], outgoing_bytes[rank]);
  while (!sending.empty() || !receiving.empty())
    for (waiter wait(team_, "the blocks of an alltoall"); !step(); wait.pause()) {
    }
}

bool block_exchange::send(block& rest) {
  auto& channel = channels_->sender(rest.channel);
  std::byte* const slot = channel.reserve();
  if (slot == nullptr) return false;
  const std::size_t bytes = std::min(piece_bytes_, rest.left_bytes);
  std::memcpy(slot, rest.next, bytes);
  channel.commit(bytes);
  rest.next += bytes;
  rest.left_bytes -= bytes;
  return true;
}

bool block_exchange::receive(block& rest) {
  auto& channel = channels_->receiver(rest.channel);
  const auto piece = channel.front();
  if (!piece) return false;
  if (piece->size() != std::min(piece_bytes_, rest.left_bytes))
    fail(errc::usage,
         "alltoall: rank {} sends a piece of {} bytes, and rank {} expects {}: the two ranks pass "
         "different counts",
         channel.peer(), piece->size(), team_.rank(), std::min(piece_bytes_, rest.left_bytes));
  std::memcpy(rest.next, piece->data(), piece->size());
  rest.next += piece->size();
  rest.left_bytes -= piece->size();
  channel.release();
  return true;
}

}  // namespace longshore::one_sided
