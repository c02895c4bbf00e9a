// Copies boxes of cells: joins dimensions that are contiguous, and picks a copy kernel for the
// length of a run.
#include <longshore/exchange/detail/copy/strided_box.hpp>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace longshore::detail {
namespace {

// Tasks share a single run in pieces of this size. The size only decides how evenly the tasks share
// the run.
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

// A dimension is joined with the level before it if, in both boxes, it begins where that level
// ends: its stride is the stride of the level times the count of the level. The joined level then
// has more steps of the same stride. Below the first level is the run, which has a length and no
// stride.
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
  kernels_ = kernels_for(run_bytes_, stores);
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
    piece.kernels_ = kernels_for(piece.run_bytes_, stores_);
    piece(to + first, from + first);
    return;
  }
  const strided_copy part = pieces(begin, end);
  part(to + to_offset(begin), from + from_offset(begin));
}

strided_copy strided_copy::pieces(std::size_t begin, std::size_t end) const noexcept {
  strided_copy part = *this;
  part.counts_[outermost_] = end - begin;
  return part;
}

bool strided_copy::pairs_with(const strided_copy& other) const noexcept {
  return kernels_.pair != nullptr && kernels_.pair == other.kernels_.pair && counts_[0] > 1 &&
         counts_ == other.counts_ && to_strides_ == other.to_strides_ &&
         from_strides_ == other.from_strides_;
}

void strided_copy::copy_pair(std::byte* to, const std::byte* from, const second_box& second,
                             std::size_t begin, std::size_t end) const {
  if (begin >= end) return;
  to += to_offset(begin), from += from_offset(begin);
  kernels_.pair(pieces(begin, end), to, from, second);
}

template <class CopyRow>
void strided_copy::for_each_row(std::byte* to, const std::byte* from,
                                const CopyRow& copy_row) const {
  for (std::size_t k = 0; k < counts_[2]; ++k, to += to_strides_[2], from += from_strides_[2]) {
    std::byte* to_row = to;
    const std::byte* from_row = from;
    for (std::size_t j = 0; j < counts_[1]; ++j) {
      copy_row(to_row, from_row);
      to_row += to_strides_[1], from_row += from_strides_[1];
    }
  }
}

namespace {

// Copies `count` runs. A function of its own has enough registers for all values of its loop.
template <class CopyRun>
[[gnu::noinline]] void copy_run_by_run(std::byte* to, const std::byte* from, std::size_t count,
                                       std::ptrdiff_t to_stride, std::ptrdiff_t from_stride,
                                       const CopyRun copy_run) {
#pragma GCC unroll 4
  for (; count > 0; --count, to += to_stride, from += from_stride) copy_run(to, from);
}

// A run in registers. So both runs of a row can be loaded before one of them is stored.
template <std::size_t Length>
class run_value {
 public:
  void load(const std::byte* from) {
    std::memcpy(&word_, from, sizeof(word));
    rest_.load(from + sizeof(word));
  }
  void store(std::byte* to) const {
    std::memcpy(to, &word_, sizeof(word));
    rest_.store(to + sizeof(word));
  }

 private:
  using word_16 [[gnu::vector_size(16)]] = std::uint64_t;
  // clang-format off
  using word = std::conditional_t<Length >= 16, word_16,
               std::conditional_t<Length >= 8, std::uint64_t,
               std::conditional_t<Length >= 4, std::uint32_t,
               std::conditional_t<Length >= 2, std::uint16_t, std::uint8_t>>>>;
  // clang-format on
  word word_;
  [[no_unique_address]] run_value<Length - sizeof(word)> rest_;
};
template <>
class run_value<0> {
 public:
  void load(const std::byte*) {}
  void store(std::byte*) const {}
};

template <std::size_t Length>
[[gnu::noinline]] void copy_pairs_of_runs(std::byte* to, const std::byte* from, std::size_t count,
                                          std::ptrdiff_t to_stride, std::ptrdiff_t from_stride,
                                          const second_box& second_at) {
  const auto [to_second, from_second, prefetched_runs] = second_at;
#pragma GCC unroll 4
  for (; count > 0; --count, to += to_stride, from += from_stride) {
    __builtin_prefetch(from + prefetched_runs * from_stride);
    run_value<Length> first, second;
    first.load(from), second.load(from + from_second);
    first.store(to), second.store(to + to_second);
  }
}

}  // namespace

// If `Length` is 0, the length of a run is known only at run time. Otherwise it is the constant
// `Length`.
template <std::size_t Length, copy_stores Stores>
void strided_copy::copy_runs(const strided_copy& copy, std::byte* to, const std::byte* from) {
  const std::size_t length = Length == 0 ? copy.run_bytes_ : Length;
  copy.for_each_row(to, from, [&](std::byte* to_row, const std::byte* from_row) {
    copy_run_by_run(to_row, from_row, copy.counts_[0], copy.to_strides_[0], copy.from_strides_[0],
                    [length](std::byte* to_run, const std::byte* from_run) {
                      copy_bytes<Stores>(to_run, from_run, Length == 0 ? length : Length);
                    });
  });
}

template <std::size_t Length>
void strided_copy::copy_pairs(const strided_copy& copy, std::byte* to, const std::byte* from,
                              const second_box& second) {
  copy.for_each_row(to, from, [&](std::byte* to_row, const std::byte* from_row) {
    copy_pairs_of_runs<Length>(to_row, from_row, copy.counts_[0], copy.to_strides_[0],
                               copy.from_strides_[0], second);
  });
}

// The listed lengths are single elements of 1 to 8 bytes, and rows of 1 to 6 or 8 cells of float or
// double: the width of a halo along x. In each case the compiler knows the length, and can copy a
// run without a call of memcpy. Other lengths take the general loop, so a missing case costs time
// only.
strided_copy::kernels strided_copy::kernels_for(std::size_t run_bytes, copy_stores stores) {
  if (stores == copy_stores::streaming) {
    switch (run_bytes) {
      case 4: return {&copy_runs<4, copy_stores::streaming>, nullptr};
      case 8: return {&copy_runs<8, copy_stores::streaming>, nullptr};
      case 16: return {&copy_runs<16, copy_stores::streaming>, nullptr};
      default: return {&copy_runs<0, copy_stores::streaming>, nullptr};
    }
  }
  switch (run_bytes) {
    case 1: return {&copy_runs<1>, &copy_pairs<1>};
    case 2: return {&copy_runs<2>, &copy_pairs<2>};
    case 4: return {&copy_runs<4>, &copy_pairs<4>};
    case 8: return {&copy_runs<8>, &copy_pairs<8>};
    case 12: return {&copy_runs<12>, &copy_pairs<12>};
    case 16: return {&copy_runs<16>, &copy_pairs<16>};
    case 20: return {&copy_runs<20>, &copy_pairs<20>};
    case 24: return {&copy_runs<24>, &copy_pairs<24>};
    case 32: return {&copy_runs<32>, &copy_pairs<32>};
    case 40: return {&copy_runs<40>, &copy_pairs<40>};
    case 48: return {&copy_runs<48>, &copy_pairs<48>};
    case 64: return {&copy_runs<64>, &copy_pairs<64>};
    default: return {&copy_runs<0>, nullptr};
  }
}

}  // namespace longshore::detail
