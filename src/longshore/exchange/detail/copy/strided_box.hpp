// A box of elements with a stride per dimension, and the copy between two boxes of equal extents.
#pragma once

#include <longshore/exchange/detail/copy/copy_stores.hpp>
#include <longshore/machine/tasks.hpp>

#include <array>
#include <cstddef>

namespace longshore::detail {

/// The box has extents[d] elements along dimension d, which are strides_bytes[d] bytes apart.
/// Dimension 0 varies fastest.
struct strided_box {
  std::byte* first = nullptr;
  std::size_t element_bytes = 0;
  std::array<std::size_t, 3> extents{};
  std::array<std::ptrdiff_t, 3> strides_bytes{};

  [[nodiscard]] std::size_t size_bytes() const noexcept {
    return element_bytes * extents[0] * extents[1] * extents[2];
  }
  /// A box of the same extents without gaps, at `memory`.
  [[nodiscard]] strided_box contiguous_at(std::byte* memory) const noexcept;
};

/// A second box that is copied together with a first one, run by run.
struct second_box {
  /// The distances from the first box, in bytes.
  std::ptrdiff_t to = 0, from = 0;
  /// The cells of the first box are loaded into the cache this many runs ahead.
  std::ptrdiff_t prefetched_runs = 0;
};

/// A prepared copy. The constructor joins dimensions that have no gaps in both boxes, and chooses
/// the kernel by the length of the remaining contiguous runs. Usual lengths of up to 64 bytes, such
/// as those of a face along x, are known to the compiler. Other runs are copied by memcpy. Nothing
/// is divided or allocated per element.
class strided_copy {
 public:
  strided_copy() = default;
  /// REQUIRES: equal extents and element_bytes. The addresses of the boxes are not used. With
  /// streaming stores, all runs begin at multiples of 4 bytes and have multiples of 4 bytes.
  strided_copy(const strided_box& to, const strided_box& from,
               copy_stores stores = copy_stores::ordinary);

  /// Copies the box at `from` to the box at `to`. REQUIRES: the boxes do not overlap.
  void operator()(std::byte* to, const std::byte* from) const { kernels_.single(*this, to, from); }
  /// The number of contiguous runs.
  [[nodiscard]] std::size_t run_count() const noexcept {
    return counts_[0] * counts_[1] * counts_[2];
  }
  /// The number of cache lines that the runs touch, if each short run touches `lines_of_short_run`.
  /// A long run counts as one line, because its lines follow each other.
  [[nodiscard]] double line_count(double lines_of_short_run) const noexcept {
    return static_cast<double>(run_count()) * (has_short_runs() ? lines_of_short_run : 1);
  }
  [[nodiscard]] std::size_t run_bytes() const noexcept { return run_bytes_; }
  /// The number of pieces that tasks can share. A piece is one step of the outermost dimension, or
  /// 4096 bytes of a single run.
  [[nodiscard]] std::size_t piece_count() const noexcept;
  /// Copies the pieces [begin, end). `to` and `from` are the starts of the whole boxes.
  void copy_pieces(std::byte* to, const std::byte* from, std::size_t begin, std::size_t end) const;
  /// Copies the share of task `task` of `count` tasks.
  void copy_share(std::byte* to, const std::byte* from, int task, int count) const {
    if (count == 1) return (*this)(to, from);
    const index_range share = static_share(piece_count(), task, count);
    copy_pieces(to, from, share.begin, share.end);
  }
  /// Whether this copy and `other` have the same steps and short runs of the same length.
  /// copy_pair() does two such copies together, such as those of the low and the high face of a
  /// block.
  [[nodiscard]] bool pairs_with(const strided_copy& other) const noexcept;
  /// Copies the pieces [begin, end) of two boxes with the steps of this copy. Faster than two
  /// copies, because a row of both boxes is loaded into the cache once. REQUIRES: pairs_with() for
  /// the second copy; no copy writes what the other reads or writes.
  void copy_pair(std::byte* to, const std::byte* from, const second_box& second, std::size_t begin,
                 std::size_t end) const;
  /// Whether the copy has several dimensions of short runs. If two such copies have the same rows,
  /// interleaving them is faster, because they share the rows in the cache.
  [[nodiscard]] bool has_rows_of_short_runs() const noexcept {
    return counts_[1] > 1 && has_short_runs();
  }
  /// Whether the copy is one contiguous run, and so one memcpy.
  [[nodiscard]] bool is_one_run() const noexcept { return run_count() == 1; }

 private:
  static constexpr std::size_t longest_short_run = 64;
  [[nodiscard]] bool has_short_runs() const noexcept { return run_bytes_ <= longest_short_run; }
  struct kernels {
    void (*single)(const strided_copy&, std::byte* to, const std::byte* from);
    // The kernel of copy_pair(), which copies two boxes together. Null if there is none for runs of
    // this length or for these stores.
    void (*pair)(const strided_copy&, std::byte* to, const std::byte* from,
                 const second_box& second);
  };
  static kernels kernels_for(std::size_t run_bytes, copy_stores stores);
  template <class CopyRow>
  void for_each_row(std::byte* to, const std::byte* from, const CopyRow& copy_row) const;
  template <std::size_t Length, copy_stores Stores = copy_stores::ordinary>
  static void copy_runs(const strided_copy& copy, std::byte* to, const std::byte* from);
  template <std::size_t Length>
  static void copy_pairs(const strided_copy& copy, std::byte* to, const std::byte* from,
                         const second_box& second);
  // The copy of pieces [begin, end), and the offset of a piece in each box. REQUIRES: several runs.
  [[nodiscard]] strided_copy pieces(std::size_t begin, std::size_t end) const noexcept;
  [[nodiscard]] std::ptrdiff_t to_offset(std::size_t piece) const noexcept {
    return static_cast<std::ptrdiff_t>(piece) * to_strides_[outermost_];
  }
  [[nodiscard]] std::ptrdiff_t from_offset(std::size_t piece) const noexcept {
    return static_cast<std::ptrdiff_t>(piece) * from_strides_[outermost_];
  }

  std::size_t run_bytes_ = 0;
  copy_stores stores_ = copy_stores::ordinary;
  // The levels of the loops over runs: the number of steps of each level, and its strides. The
  // innermost level comes first. Levels that are not used have one step.
  std::array<std::size_t, 3> counts_{1, 1, 1};
  std::array<std::ptrdiff_t, 3> to_strides_{}, from_strides_{};
  std::size_t outermost_ = 0;  // the last level that is used; 0 for a single run
  kernels kernels_{};
};

}  // namespace longshore::detail
