// Pairs of elements that are copied or combined: from one memory to another, or between a memory and
// a packed message.
#pragma once

#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/detail/bound_fields.hpp>
#include <longshore/exchange/detail/copy/strided_box.hpp>
#include <longshore/exchange/detail/elements/element_set.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// Prepared copies between two sets of elements, of all fields of a memory. Two boxes are copied by
/// strided copies, and two lists by runs. If one set is a box and the other is a contiguous list,
/// such as a packed message, the list is treated as a box.
class element_pairs {
 public:
  element_pairs() = default;
  /// REQUIRES: the sets have equal sizes; two boxes have equal extents. If one set is a box, the
  /// other set is a box or a contiguous list. The addresses of the fields and the element_bytes of
  /// `from_fields` are not used. Streaming stores need runs and elements that begin and end at
  /// multiples of 4 bytes.
  element_pairs(const element_set& to, const bound_fields& to_fields, const element_set& from,
                const bound_fields& from_fields, copy_stores stores = copy_stores::ordinary);

  [[nodiscard]] bool are_boxes() const noexcept { return !copies_.empty(); }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    std::size_t bytes = copies_.size() * sizeof(box_copy);
    for (const auto& list : lists_) bytes += list.memory_bytes();
    return bytes;
  }
  /// Copies the elements of field number `k` of the memory: the share of task `task` of `tasks`. All
  /// elements of lists belong to the share of task 0.
  void copy(std::size_t k, const element_memory& to, const element_memory& from,
            std::size_t element_bytes, int task = 0, int tasks = 1) const {
    if (copies_.empty()) {
      if (task == 0) list(k).copy(to, from, element_bytes, stores_);
      return;
    }
    const auto& copy = box(k);
    copy.prepared.copy_share(to.data + copy.to_offset, from.data + copy.from_offset, task, tasks);
  }
  /// Combines the elements of `to` with those of `from`.
  void combine(std::size_t k, const element_memory& to, const element_memory& from,
               batch_function loop, const void* op) const;
  /// The boxes of field `k`. REQUIRES: are_boxes().
  struct two_boxes {
    strided_box to, from;
  };
  [[nodiscard]] two_boxes boxes(std::size_t k, const element_memory& to,
                                const element_memory& from) const noexcept;
  /// About the number of cache lines that the elements of all fields touch; 0 for lists. A run
  /// longer than 64 bytes counts as one line, because its lines follow each other.
  [[nodiscard]] double line_count() const noexcept { return lines_; }

 private:
  // `to` and `from` have offsets from the data of the fields instead of addresses. The members that
  // a copy needs come first, in few cache lines.
  struct box_copy {
    std::ptrdiff_t to_offset, from_offset;
    strided_copy prepared;
    two_boxes boxes;
  };

  [[nodiscard]] const pair_list& list(std::size_t k) const noexcept {
    return lists_[lists_.size() > 1 ? k : 0];
  }
  [[nodiscard]] const box_copy& box(std::size_t k) const noexcept {
    return copies_[k * copy_step_];
  }

  // One list for all fields, or one per field if fields have different places. In the same way, one
  // copy of boxes for fields with equal elements and strides. One of the two vectors is empty.
  std::vector<pair_list> lists_;
  std::vector<box_copy> copies_;
  std::size_t copy_step_ = 0;  // 1 if there is a copy for each field
  copy_stores stores_ = copy_stores::ordinary;
  double lines_ = 0;
};

}  // namespace longshore::detail
