// Copies that are done together: those that walk the same rows in step, so that a row is in the
// cache for both, and all of them by several tasks where they are worth it.
#pragma once

#include <longshore/halo/detail/strided_block.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

class copy_batch {
 public:
  /// REQUIRES: equal extents and element_bytes; no copy of the batch writes what another one reads
  /// or writes.
  void add(const strided_block& to, const strided_block& from);
  /// `workers` may be null: then the calling thread does it all.
  void run(tasks* workers) const;
  [[nodiscard]] bool empty() const noexcept { return copies_.empty(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  struct copy {
    std::byte* to;
    const std::byte* from;
    strided_copy shape;
    // of the copies that follow, those that are done in step with this one
    std::size_t in_step = 0;
  };
  void run_share(int task, int count) const;

  std::vector<copy> copies_;
  std::size_t bytes_ = 0;
};

}  // namespace longshore::detail
