// Packs a header and the message, if it is short, into a block for each rank.
#include <longshore/ghost/detail/exchange_with_all.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace longshore::detail {
namespace {

struct block_header {
  agreed_numbers numbers;
  std::uint32_t bytes, longest;  // of this message, and of all messages of the sender
};

// On a node, alltoalls of up to 4 KiB go through staging buffers of the team.
std::size_t block_bytes(std::size_t ranks) {
  return std::clamp<std::size_t>(4096 / ranks / sizeof(std::int64_t) * sizeof(std::int64_t), 64,
                                 512);
}

std::vector<std::vector<std::byte>> exchange_long(
    team& ranks, const std::vector<std::vector<std::byte>>& messages,
    const std::vector<std::size_t>& incoming_counts) {
  std::vector<std::size_t> counts;
  std::vector<std::byte> outgoing;
  for (const auto& message : messages) {
    counts.push_back(message.size());
    outgoing.insert(outgoing.end(), message.begin(), message.end());
  }
  std::size_t total = 0;
  for (const auto count : incoming_counts) total += count;
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
  const std::size_t block = block_bytes(size), inline_bytes = block - sizeof(block_header);
  block_header header{numbers, 0, 0};
  for (const auto& message : messages)
    header.longest = std::max(header.longest, static_cast<std::uint32_t>(message.size()));
  std::vector<std::byte> outgoing(size * block), incoming(size * block);
  for (std::size_t r = 0; r < size; ++r) {
    std::byte* const to = outgoing.data() + r * block;
    header.bytes = static_cast<std::uint32_t>(messages[r].size());
    std::memcpy(to, &header, sizeof header);
    if (header.bytes > 0 && header.bytes <= inline_bytes)
      std::memcpy(to + sizeof header, messages[r].data(), header.bytes);
  }
  ranks.alltoall(outgoing, incoming);

  agreed_numbers largest = numbers;
  std::size_t longest = 0;
  std::vector<std::size_t> counts(size);
  for (std::size_t r = 0; r < size; ++r) {
    std::memcpy(&header, incoming.data() + r * block, sizeof header);
    for (std::size_t i = 0; i < largest.size(); ++i)
      largest[i] = std::max(largest[i], header.numbers[i]);
    longest = std::max<std::size_t>(longest, header.longest);
    counts[r] = header.bytes;
  }
  agreed(largest);
  if (longest > inline_bytes) return exchange_long(ranks, messages, counts);
  std::vector<std::vector<std::byte>> received(size);
  for (std::size_t r = 0; r < size; ++r) {
    const std::byte* const from = incoming.data() + r * block + sizeof header;
    received[r].assign(from, from + counts[r]);
  }
  return received;
}

}  // namespace longshore::detail
