// Allocates the memory of a segment as one mapping for all ranks, and copies to and from its parts.
#include <longshore/core/error.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/threads/detail/segment.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace longshore::threads {
namespace {

// Parts of this size are streamed or accessed at random. Huge pages avoid most of the TLB misses.
constexpr std::size_t min_huge_bytes = std::size_t{1} << 20;
// The same for all parts together, if ranks share cores: a core then visits many small parts.
constexpr std::size_t min_shared_huge_bytes = std::size_t{16} << 20;

std::vector<std::byte*> direct_parts(const team& team, const shared_block& block) {
  std::vector<std::byte*> parts(team.size(), nullptr);
  for (const int rank : team.nodes().my_ranks()) parts[rank] = block.part(rank);
  return parts;
}

// The distance between parts. The size is checked before rounding and multiplication, because a
// size that overflows would look small.
std::size_t stride_of(std::size_t part_bytes, int parts) {
  const std::size_t available = available_memory_bytes();
  if (part_bytes > available / parts)
    fail(errc::out_of_memory,
         "{} ranks request {} bytes of memory each, {} bytes are available: use smaller arrays or "
         "fewer ranks",
         parts, part_bytes, available);
  return round_up(part_bytes, part_bytes >= min_huge_bytes ? huge_page_bytes() : page_bytes());
}

}  // namespace

shared_block::shared_block(std::size_t part_bytes, int parts, bool ranks_share_cores)
    : stride_bytes(stride_of(part_bytes, parts)),
      memory(stride_bytes * parts,
             part_bytes >= min_huge_bytes ||
                 (ranks_share_cores && stride_bytes * parts >= min_shared_huge_bytes)) {}

segment::segment(const team& team, std::shared_ptr<shared_block> block, std::size_t bytes)
    : longshore::segment(bytes, block->part(team.rank()), direct_parts(team, *block)),
      block_(std::move(block)) {}

namespace {

// Copies a single word by one store. After two ranks put to the same address, the memory holds one
// of the two words, as on a network.
template <class Word>
bool store_as(std::byte* to, const void* from, std::size_t bytes) {
  if (bytes != sizeof(Word) || reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) != 0)
    return false;
  Word word;
  std::memcpy(&word, from, sizeof(Word));
  std::atomic_ref(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_relaxed);
  return true;
}

}  // namespace

void segment::put(int peer, std::size_t offset, const void* from, std::size_t bytes) {
  check_range(peer, offset, bytes);
  std::byte* const to = block_->part(peer) + offset;
  if (store_as<std::uint64_t>(to, from, bytes) || store_as<std::uint32_t>(to, from, bytes) ||
      store_as<std::uint16_t>(to, from, bytes) || store_as<std::uint8_t>(to, from, bytes))
    return;
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void segment::get(int peer, std::size_t offset, void* to, std::size_t bytes) {
  check_range(peer, offset, bytes);
  if (bytes > 0) std::memcpy(to, block_->part(peer) + offset, bytes);
}

std::int64_t segment::fetch_add(int peer, std::size_t offset, std::int64_t amount) {
  check_integer(peer, offset);
  return std::atomic_ref(*reinterpret_cast<std::int64_t*>(block_->part(peer) + offset))
      .fetch_add(amount, std::memory_order_acq_rel);
}

}  // namespace longshore::threads
