// Packs a block for each rank: a header, the numbers, and the message if it is short. For a long
// message on the node, the block tells where the message lies.
#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/exchange/detail/movers/node_access.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace longshore::detail {
namespace {

// The numbers follow, then the message.
struct block_header {
  // The length of this message, and of the longest message of the sender that is not lent.
  std::uint32_t bytes, longest;
};
// Stands in the block instead of a message that the receiver reads in the memory of the sender.
struct lent_message {
  shared_memory_handle memory;
  std::uint64_t offset;
};
constexpr std::uint32_t lent_bit = std::uint32_t{1} << 31;  // in block_header::bytes

// On a node, an alltoall of up to 4 KiB goes through staging buffers of the team.
std::size_t block_bytes(std::size_t ranks) {
  return std::clamp<std::size_t>(4096 / ranks / sizeof(std::int64_t) * sizeof(std::int64_t), 64,
                                 512);
}

// The messages that receivers read in the memory of this rank, with the place of each message.
class lent_messages {
 public:
  lent_messages(team& ranks, const std::vector<std::vector<std::byte>>& messages,
                std::size_t inline_bytes)
      : ranks_(ranks), offsets_(messages.size(), not_lent) {
    if (ranks.is_one_process() || inline_bytes < sizeof(lent_message)) return;
    auto& access = node_access::of(ranks);
    std::size_t total = 0;
    for (const auto& [rank, can_map] : access.reach()) {
      const auto r = static_cast<std::size_t>(rank);
      const std::size_t bytes = messages[r].size();
      if (!can_map || bytes <= inline_bytes || total + bytes > lent_memory::max_bytes) continue;
      offsets_[r] = total;
      total += bytes;
    }
    memory_ = &access.lent().next(ranks, total);
    if (memory_->handle().file < 0) offsets_.assign(messages.size(), not_lent);
    for (std::size_t r = 0; r < messages.size(); ++r)
      if (is_lent(r))
        std::memcpy(memory_->data() + offsets_[r], messages[r].data(), messages[r].size());
  }
  [[nodiscard]] bool is_lent(std::size_t rank) const { return offsets_[rank] != not_lent; }
  [[nodiscard]] lent_message to(std::size_t rank) const {
    return {memory_->handle(), offsets_[rank]};
  }
  // Reads a message of another rank.
  [[nodiscard]] std::vector<std::byte> read(std::size_t rank, const std::byte* block,
                                            std::size_t bytes) const {
    lent_message lent;
    std::memcpy(&lent, block, sizeof lent);
    const auto mapping = node_access::of(ranks_).mappings().map(lent.memory);
    if (mapping.data == nullptr)
      fail(errc::out_of_memory,
           "rank {} cannot map a message of rank {}: a process has too many mappings or open files",
           ranks_.rank(), rank);
    const std::byte* const from = mapping.data + lent.offset;
    return {from, from + bytes};
  }

 private:
  static constexpr auto not_lent = static_cast<std::size_t>(-1);
  team& ranks_;
  std::vector<std::size_t> offsets_;
  const shareable_memory* memory_ = nullptr;
};

// Exchanges the messages that are neither lent nor in a block, and returns them.
std::vector<std::vector<std::byte>> exchange_long(
    team& ranks, const std::vector<std::vector<std::byte>>& messages, const lent_messages& lent,
    std::span<const block_header> headers, std::size_t inline_bytes) {
  std::vector<std::size_t> counts, incoming_counts;
  std::vector<std::byte> outgoing;
  std::size_t total = 0;
  for (std::size_t r = 0; r < messages.size(); ++r) {
    const auto& message = messages[r];
    const bool is_sent = !lent.is_lent(r) && message.size() > inline_bytes;
    counts.push_back(is_sent ? message.size() : 0);
    if (is_sent) outgoing.insert(outgoing.end(), message.begin(), message.end());
    const auto bytes = headers[r].bytes;
    incoming_counts.push_back((bytes & lent_bit) == 0 && bytes > inline_bytes ? bytes : 0);
    total += incoming_counts.back();
  }
  std::vector<std::byte> incoming(total);
  ranks.alltoallv(outgoing.data(), counts, incoming.data(), incoming_counts, 1);
  std::vector<std::vector<std::byte>> received;
  auto next = incoming.begin();
  for (const auto count : incoming_counts) {
    const auto end = next + static_cast<std::ptrdiff_t>(count);
    received.emplace_back(next, end);
    next = end;
  }
  return received;
}

}  // namespace

std::vector<std::vector<std::byte>> exchange_with_all(
    team& ranks, const std::vector<std::vector<std::byte>>& messages, const agreed_numbers& numbers,
    const when_agreed& agreed) {
  const auto size = static_cast<std::size_t>(ranks.size());
  assert(messages.size() == size);
  if (size == 1) {
    agreed(numbers);
    return messages;
  }
  const std::size_t numbers_bytes = numbers.size() * sizeof(numbers[0]);
  const std::size_t message_begin = sizeof(block_header) + numbers_bytes;
  const std::size_t block = std::max(block_bytes(size), message_begin);
  const std::size_t inline_bytes = block - message_begin;
  const lent_messages lent(ranks, messages, inline_bytes);
  block_header header{0, 0};
  for (std::size_t r = 0; r < size; ++r)
    if (!lent.is_lent(r))
      header.longest = std::max(header.longest, static_cast<std::uint32_t>(messages[r].size()));
  std::vector<std::byte> outgoing(size * block), incoming(size * block);
  for (std::size_t r = 0; r < size; ++r) {
    std::byte* const to = outgoing.data() + r * block;
    header.bytes = static_cast<std::uint32_t>(messages[r].size());
    if (lent.is_lent(r)) {
      header.bytes |= lent_bit;
      const auto place = lent.to(r);
      std::memcpy(to + message_begin, &place, sizeof place);
    } else if (header.bytes > 0 && header.bytes <= inline_bytes) {
      std::memcpy(to + message_begin, messages[r].data(), header.bytes);
    }
    std::memcpy(to, &header, sizeof header);
    std::ranges::copy(std::as_bytes(std::span(numbers)), to + sizeof header);
  }
  ranks.alltoall(outgoing, incoming);

  agreed_numbers largest = numbers, theirs = numbers;
  std::size_t longest = 0;
  std::vector<block_header> headers(size);
  for (std::size_t r = 0; r < size; ++r) {
    const std::byte* const from = incoming.data() + r * block;
    std::memcpy(&headers[r], from, sizeof header);
    std::copy_n(from + sizeof header, numbers_bytes,
                std::as_writable_bytes(std::span(theirs)).begin());
    for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], theirs[i]);
    longest = std::max<std::size_t>(longest, headers[r].longest);
  }
  agreed(largest);
  std::vector<std::vector<std::byte>> received(size);
  if (longest > inline_bytes)
    received = exchange_long(ranks, messages, lent, headers, inline_bytes);
  for (std::size_t r = 0; r < size; ++r) {
    const std::byte* const from = incoming.data() + r * block + message_begin;
    if ((headers[r].bytes & lent_bit) != 0)
      received[r] = lent.read(r, from, headers[r].bytes - lent_bit);
    else if (headers[r].bytes <= inline_bytes)
      received[r].assign(from, from + headers[r].bytes);
  }
  return received;
}

}  // namespace longshore::detail
