// A batch of copies, run by one or several tasks. Copies of short runs in the same rows are usually
// the low and the high face of a block. They are interleaved, so that each row is loaded into the
// cache only once.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/exchange/detail/copy/strided_box.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// Where the copied cells are.
enum class copy_source {
  own_memory,
  /// Cells are not prefetched. The other rank may write to the same cache lines at this moment, and
  /// would take the lines back before they are used.
  other_rank,
  /// Packed messages. Only two copies with the same steps are interleaved, such as those of opposite
  /// faces: the rows of more messages gain nothing, because each message has lines of its own.
  messages
};

/// Calls body(task, count) in each of the `count` tasks of `workers`. Calls body(0, 1) in the
/// calling thread if `workers` is null or has one task, or for fewer than 256 KiB: starting tasks
/// costs some microseconds, and a copy of 256 KiB takes longer.
template <class Body>
void for_task_shares(tasks* workers, std::size_t bytes, const Body& body) {
  constexpr std::size_t shared_from_bytes = 256 * 1024;
  if (workers == nullptr || workers->count() == 1 || bytes < shared_from_bytes)
    body(0, 1);
  else
    workers->run([&](int task) { body(task, workers->count()); });
}

class copy_batch {
 public:
  explicit copy_batch(copy_source source = copy_source::own_memory) : source_(source) {}
  /// REQUIRES: `to` and `from` have equal extents and element_bytes. No copy of the batch writes
  /// bytes that another copy of the batch reads or writes.
  void add(const strided_box& to, const strided_box& from);
  /// If `workers` is null, the calling thread does all copies.
  void run(tasks* workers) const;
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// About the number of cache lines that the runs touch. A run longer than 64 bytes counts as one
  /// line, because its lines follow each other.
  [[nodiscard]] double line_count() const noexcept { return lines_; }
  /// About the bytes of the cache lines that the runs touch. Each run adds half a line, because the
  /// last run of a row shares a line with the first run of the next row.
  [[nodiscard]] std::size_t line_bytes() const noexcept {
    return bytes_ + runs_ * cache_line_bytes / 2;
  }

 private:
  struct placed_copy {
    std::byte* to;
    const std::byte* from;
    strided_copy prepared;
    // For the first copy of a group: the number of further copies in the group. Not used otherwise.
    std::size_t interleaved = 0;
  };
  void run_share(int task, int count) const;

  copy_source source_;
  // Invariant: a sequence of groups. The copies of a group are interleaved. The first copy of a
  // group tells how many copies follow in the group, and all copies of a group have the same number
  // of pieces.
  std::vector<placed_copy> copies_;
  std::vector<std::size_t> groups_;  // the first copy of each group, for add()
  std::size_t bytes_ = 0, runs_ = 0;
  double lines_ = 0;
};

}  // namespace longshore::detail
