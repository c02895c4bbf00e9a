// A batch of copies, run by one or several tasks. Copies of short runs in the same rows are
// interleaved, so that a row is in the cache for both.
#pragma once

#include <longshore/halo/detail/copy/strided_box.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

class copy_batch {
 public:
  /// REQUIRES: equal extents and element_bytes. No copy of the batch may write bytes that another
  /// copy of the batch reads or writes.
  void add(const strided_box& to, const strided_box& from);
  /// If `workers` is null, the calling thread does all copies.
  void run(tasks* workers) const;
  [[nodiscard]] bool empty() const noexcept { return copies_.empty(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  struct copy {
    std::byte* to;
    const std::byte* from;
    strided_copy shape;
    // the number of copies after this one that are interleaved with it
    std::size_t interleaved = 0;
  };
  void run_share(int task, int count) const;

  std::vector<copy> copies_;
  std::size_t bytes_ = 0;
};

}  // namespace longshore::detail
