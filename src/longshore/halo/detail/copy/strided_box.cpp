// Copies boxes of cells: joins dimensions that are contiguous, and picks a copy kernel for the
// length of a run.
#include <longshore/halo/detail/copy/strided_box.hpp>

#include <longshore/core/streaming_store.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace longshore::detail {
namespace {

// Tasks share a single run in pieces of this size. Any size is correct, since the size only decides
// how evenly the tasks share the run.
constexpr std::size_t run_piece_bytes = 4096;

}  // namespace

strided_box strided_box::contiguous_at(std::byte* memory) const noexcept {
  strided_box packed = *this;
  packed.first = memory;
  packed.strides_bytes[0] = static_cast<std::ptrdiff_t>(element_bytes);
  for (int d = 1; d < 3; ++d)
    packed.strides_bytes[d] =
        packed.strides_bytes[d - 1] * static_cast<std::ptrdiff_t>(extents[d - 1]);
  return packed;
}

bool strided_box::is_contiguous() const noexcept {
  const auto packed = contiguous_at(first);
  for (int d = 0; d < 3; ++d)
    if (extents[d] > 1 && strides_bytes[d] != packed.strides_bytes[d]) return false;
  return true;
}

// A dimension is joined with the level before it if, in both boxes, it begins where that level
// ends: its stride is the stride of the level times the count of the level. The joined level then
// has more steps of the same stride. Below the first level is the run, which has no stride, only a
// length.
strided_copy::strided_copy(const strided_box& to, const strided_box& from, copy_stores stores)
    : run_bytes_(to.element_bytes), stores_(stores) {
  assert(to.extents == from.extents && to.element_bytes == from.element_bytes);
  int levels = 0;
  for (int d = 0; d < 3; ++d) {
    const std::size_t extent = to.extents[d];
    if (extent == 1) continue;
    const auto end_of_last_level = [&](const std::array<std::ptrdiff_t, 3>& strides) {
      if (levels == 0) return static_cast<std::ptrdiff_t>(run_bytes_);
      return strides[levels - 1] * static_cast<std::ptrdiff_t>(counts_[levels - 1]);
    };
    const bool has_no_gap = to.strides_bytes[d] == end_of_last_level(to_strides_) &&
                            from.strides_bytes[d] == end_of_last_level(from_strides_);
    if (has_no_gap && levels == 0) {
      run_bytes_ *= extent;
      continue;
    }
    if (has_no_gap) {
      counts_[levels - 1] *= extent;
      continue;
    }
    counts_[levels] = extent;
    to_strides_[levels] = to.strides_bytes[d];
    from_strides_[levels] = from.strides_bytes[d];
    ++levels;
  }
  outermost_ = levels == 0 ? 0 : static_cast<std::size_t>(levels - 1);
  kernel_ = kernel_for(run_bytes_, stores);
}

std::size_t strided_copy::piece_count() const noexcept {
  return is_one_run() ? (run_bytes_ + run_piece_bytes - 1) / run_piece_bytes : counts_[outermost_];
}

void strided_copy::copy_pieces(std::byte* to, const std::byte* from, std::size_t begin,
                               std::size_t end) const {
  if (begin >= end) return;
  if (is_one_run()) {
    const std::size_t first = begin * run_piece_bytes,
                      last = std::min(end * run_piece_bytes, run_bytes_);
    strided_copy piece = *this;
    piece.run_bytes_ = last - first;
    piece.kernel_ = kernel_for(piece.run_bytes_, stores_);
    piece(to + first, from + first);
    return;
  }
  strided_copy part = *this;
  part.counts_[outermost_] = end - begin;
  const auto steps = static_cast<std::ptrdiff_t>(begin);
  part(to + steps * to_strides_[outermost_], from + steps * from_strides_[outermost_]);
}

template <class CopyRun>
void strided_copy::for_each_run(std::byte* to, const std::byte* from,
                                const CopyRun& copy_run) const {
  const auto [n0, n1, n2] = counts_;
  const auto [to0, to1, to2] = to_strides_;
  const auto [from0, from1, from2] = from_strides_;
  for (std::size_t k = 0; k < n2; ++k, to += to2, from += from2) {
    std::byte* to_row = to;
    const std::byte* from_row = from;
    for (std::size_t j = 0; j < n1; ++j, to_row += to1, from_row += from1) {
      std::byte* to_run = to_row;
      const std::byte* from_run = from_row;
      for (std::size_t i = 0; i < n0; ++i, to_run += to0, from_run += from0)
        copy_run(to_run, from_run);
    }
  }
}

// The length of a run is `Length`, a constant for the compiler, or known only at run time if
// `Length` is 0.
template <std::size_t Length>
void strided_copy::copy_runs(const strided_copy& copy, std::byte* to, const std::byte* from) {
  const std::size_t length = Length == 0 ? copy.run_bytes_ : Length;
  copy.for_each_run(to, from, [&](std::byte* to_run, const std::byte* from_run) {
    std::memcpy(to_run, from_run, length);
  });
}

template <std::size_t Length>
void strided_copy::stream_runs(const strided_copy& copy, std::byte* to, const std::byte* from) {
  const std::size_t length = Length == 0 ? copy.run_bytes_ : Length;
  copy.for_each_run(to, from, [&](std::byte* to_run, const std::byte* from_run) {
    stream_run(to_run, from_run, length);
  });
}

// The listed lengths are single elements of 1 to 8 bytes, and rows of 1 to 6 or 8 cells of float or
// double: the width of a halo along x. In each case the compiler knows the length, and can copy a
// run without a call of memcpy. Other lengths take the general loop, so a missing case costs time
// only.
strided_copy::kernel strided_copy::kernel_for(std::size_t run_bytes, copy_stores stores) {
  if (stores == copy_stores::streaming) {
    switch (run_bytes) {
      case 4: return &stream_runs<4>;
      case 8: return &stream_runs<8>;
      case 16: return &stream_runs<16>;
      default: return &stream_runs<0>;
    }
  }
  switch (run_bytes) {
    case 1: return &copy_runs<1>;
    case 2: return &copy_runs<2>;
    case 4: return &copy_runs<4>;
    case 8: return &copy_runs<8>;
    case 12: return &copy_runs<12>;
    case 16: return &copy_runs<16>;
    case 20: return &copy_runs<20>;
    case 24: return &copy_runs<24>;
    case 32: return &copy_runs<32>;
    case 40: return &copy_runs<40>;
    case 48: return &copy_runs<48>;
    case 64: return &copy_runs<64>;
    default: return &copy_runs<0>;
  }
}

}  // namespace longshore::detail
