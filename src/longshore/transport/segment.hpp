// Symmetric memory: every rank has the same number of bytes, and can access the bytes of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

/// One allocation of symmetric memory, made by team::allocate. Making and destroying a segment are
/// collective. The bytes are zero at first. A page lies on the NUMA node of the rank that first
/// writes to the page.
///
/// Ordering: put, put_start and stores through direct() write data. The target sees these data
/// after quiet() and a following synchronisation of the two ranks (a barrier, a message on a
/// channel). Only the thread of the team's rank may call. Every call throws errc::usage if a range
/// does not lie in the segment.
class segment {
 public:
  virtual ~segment();
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  /// Bytes of each rank's part.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  /// This rank's own part, aligned to a page.
  [[nodiscard]] std::byte* local() const noexcept { return local_; }
  /// The part of `peer`, for loads and stores, if `peer` is on the same node; else null. O(1). In a
  /// loop, keep the pointer instead of calling again.
  [[nodiscard]] std::byte* direct(int peer) const noexcept { return direct_[peer]; }

  /// Copies [from, from + bytes) to `offset` in the part of `peer`. The caller may reuse [from,
  /// from + bytes) on return.
  virtual void put(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Copies from `offset` in the part of `peer` to [to, to + bytes). Complete on return.
  virtual void get(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// Like put and get, but complete only after quiet(). Before quiet(), the caller must not write
  /// to the memory at `from`, nor use the memory at `to`.
  virtual void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// Adds `amount` to the 64-bit integer at `offset` (a multiple of 8) of `peer`, and returns the
  /// integer's previous value. Atomic with respect to fetch_add of all ranks, not to stores through
  /// direct().
  virtual std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) = 0;
  /// Like fetch_add of `*amount`, but complete only after quiet(), which also sets `*previous`.
  /// Until then, the caller must not use the memory at `previous`, nor write to the memory at
  /// `amount`. Over ucx many additions run at the same time; over mpi, as many as MPI allows.
  virtual void fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                               std::int64_t* previous) {
    *previous = fetch_add(peer, offset, *amount);
  }
  /// Waits until all operations that this rank has started on this segment are complete, at this
  /// rank and at the targets.
  virtual void quiet() = 0;

 protected:
  segment(std::size_t size_bytes, std::byte* local, std::vector<std::byte*> direct);
  /// Throws errc::usage unless [offset, offset + bytes) of rank `peer` exists.
  void check_range(int peer, std::size_t offset, std::size_t bytes) const;
  /// Throws errc::usage unless rank `peer` has a 64-bit integer for fetch_add at `offset`.
  void check_integer(int peer, std::size_t offset) const;

 private:
  std::size_t size_bytes_;
  std::byte* local_;
  std::vector<std::byte*> direct_;  // indexed by rank; null for ranks on other nodes
};

}  // namespace longshore
