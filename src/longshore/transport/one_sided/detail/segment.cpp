// Accesses the parts of a segment: by loads and stores within a node, and by the library otherwise.
#include <longshore/transport/one_sided/detail/segment.hpp>

#include <atomic>
#include <cstring>

namespace longshore::one_sided {
namespace {

std::vector<std::byte*> direct_parts(const team& team, region& memory) {
  std::vector<std::byte*> parts(team.size(), nullptr);
  for (const int rank : team.nodes().my_ranks()) parts[rank] = memory.direct(rank);
  return parts;
}

}  // namespace

// check_range() is called only to throw, so that small puts stay fast.
void segment::check(int peer, std::size_t offset, std::size_t bytes) const {
  if (static_cast<unsigned>(peer) >= static_cast<unsigned>(team_.size()) || offset > size_bytes() ||
      bytes > size_bytes() - offset) [[unlikely]]
    check_range(peer, offset, bytes);
}

segment::segment(team& team, region_owner memory, std::size_t bytes)
    : longshore::segment(bytes, memory->local(), direct_parts(team, *memory)),
      team_(team),
      memory_(std::move(memory)),
      by_library_(team.lib().moves_within_nodes()) {}

inline bool segment::put_direct(int peer, std::size_t offset, const void* from,
                                std::size_t bytes) const {
  check(peer, offset, bytes);
  std::byte* const part = direct_to_move(peer);
  if (part != nullptr && bytes > 0) std::memcpy(part + offset, from, bytes);
  return part != nullptr || bytes == 0;
}

inline bool segment::get_direct(int peer, std::size_t offset, void* to, std::size_t bytes) const {
  check(peer, offset, bytes);
  const std::byte* const part = direct_to_move(peer);
  if (part != nullptr && bytes > 0) std::memcpy(to, part + offset, bytes);
  return part != nullptr || bytes == 0;
}

void segment::put(int peer, std::size_t offset, const void* from, std::size_t bytes) {
  if (put_direct(peer, offset, from, bytes)) return;
  memory_->put(peer, offset, from, bytes);
  pending_ = true;
}

void segment::put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) {
  if (put_direct(peer, offset, from, bytes)) return;
  memory_->put_start(peer, offset, from, bytes);
  pending_ = true;
}

void segment::get(int peer, std::size_t offset, void* to, std::size_t bytes) {
  if (!get_direct(peer, offset, to, bytes)) memory_->get(peer, offset, to, bytes);
}

void segment::get_start(int peer, std::size_t offset, void* to, std::size_t bytes) {
  if (get_direct(peer, offset, to, bytes)) return;
  if (direct(peer) != nullptr) [[unlikely]]
    return memory_->get(peer, offset, to, bytes);
  memory_->get_start(peer, offset, to, bytes);
  pending_ = true;
}

// Atomics of the processor and of a network are not atomic with respect to each other, so all ranks
// use the same kind.
std::int64_t* segment::integer_of_processor(int peer, std::size_t offset) const {
  check(peer, offset, sizeof(std::int64_t));
  if (offset % sizeof(std::int64_t) != 0) [[unlikely]]
    check_integer(peer, offset);
  const bool one_node = team_.nodes().node_count() == 1 && !by_library_;
  return one_node ? reinterpret_cast<std::int64_t*>(direct(peer) + offset) : nullptr;
}

std::int64_t segment::fetch_add(int peer, std::size_t offset, std::int64_t amount) {
  if (auto* integer = integer_of_processor(peer, offset))
    return std::atomic_ref(*integer).fetch_add(amount, std::memory_order_acq_rel);
  return memory_->fetch_add(peer, offset, amount);
}

void segment::fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                              std::int64_t* previous) {
  if (auto* integer = integer_of_processor(peer, offset)) {
    *previous = std::atomic_ref(*integer).fetch_add(*amount, std::memory_order_acq_rel);
    return;
  }
  memory_->fetch_add_start(peer, offset, amount, previous);
  pending_ = true;
}

void segment::quiet() {
  std::atomic_thread_fence(std::memory_order_release);
  if (!pending_) return;
  team_.lib().quiet();
  pending_ = false;
}

}  // namespace longshore::one_sided
