// A box of elements in memory with a stride per dimension, and the copy of one such box to another.
#pragma once

#include <array>
#include <cstddef>

namespace longshore::detail {

/// extents[d] elements along dimension d, each strides_bytes[d] after the one before; dimension 0
/// is walked fastest.
struct strided_block {
  std::byte* first = nullptr;
  std::size_t element_bytes = 0;
  std::array<std::size_t, 3> extents{};
  std::array<std::ptrdiff_t, 3> strides_bytes{};

  [[nodiscard]] std::size_t size_bytes() const noexcept {
    return element_bytes * extents[0] * extents[1] * extents[2];
  }
  /// The same elements without gaps, starting at `memory`.
  [[nodiscard]] strided_block dense_at(std::byte* memory) const noexcept;
  /// Whether the elements lie without gaps, in order.
  [[nodiscard]] bool is_dense() const noexcept;
};

/// A copy made ready once: dimensions that lie without gaps on both sides are joined, and the
/// kernel is chosen by the length of the runs that remain. Runs of up to 64 bytes (an x face of any
/// usual width) are moved by loops of a length known to the compiler, longer ones by memcpy.
/// Nothing is called, divided or allocated per element.
class strided_copy {
 public:
  strided_copy() = default;
  /// REQUIRES: equal extents and element_bytes. The addresses of the blocks are not kept.
  strided_copy(const strided_block& to, const strided_block& from);

  /// Copies from the block that starts at `from` to the one that starts at `to`. They must not
  /// overlap.
  void operator()(std::byte* to, const std::byte* from) const { kernel_(*this, to, from); }
  [[nodiscard]] std::size_t size_bytes() const noexcept {
    return run_bytes_ * counts_[0] * counts_[1] * counts_[2];
  }
  /// The pieces that it may be cut into: steps of the outermost dimension, or pages of a single
  /// run.
  [[nodiscard]] std::size_t piece_count() const noexcept;
  /// Copies the pieces [begin, end) of a whole copy from `from` to `to`.
  void copy_pieces(std::byte* to, const std::byte* from, std::size_t begin, std::size_t end) const;
  /// Whether it walks rows: more than one dimension of short runs. Two of them in step share the
  /// rows in the cache.
  [[nodiscard]] bool is_walk_of_rows() const noexcept {
    return counts_[1] > 1 && run_bytes_ <= longest_short_run;
  }
  /// Whether it is one run: then it is one memcpy.
  [[nodiscard]] bool is_one_run() const noexcept {
    return counts_[0] * counts_[1] * counts_[2] == 1;
  }

 private:
  static constexpr std::size_t longest_short_run = 64;
  using kernel = void (*)(const strided_copy&, std::byte*, const std::byte*);
  template <std::size_t run_bytes>
  static void copy_runs(const strided_copy& shape, std::byte* to, const std::byte* from);
  static kernel kernel_for(std::size_t run_bytes);

  std::size_t run_bytes_ = 0;
  std::array<std::size_t, 3> counts_{1, 1, 1};  // of runs, fastest first
  std::array<std::ptrdiff_t, 3> to_strides_{}, from_strides_{};
  std::size_t outermost_ = 0;  // the last dimension with more than one run
  kernel kernel_ = nullptr;
};

}  // namespace longshore::detail
