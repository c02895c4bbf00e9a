#include <longshore/halo/detail/copy/copy_batch.hpp>

#include <cstdlib>

namespace longshore::detail {
namespace {

// Starting tasks costs some microseconds, and larger copies take longer than that.
constexpr std::size_t least_bytes_for_tasks = 256 * 1024;

// Two copies that start within this distance share rows: the low and the high face of one block.
constexpr std::ptrdiff_t longest_row = 16 * 1024;

bool is_near(const std::byte* one, const std::byte* other) {
  const auto distance =
      reinterpret_cast<std::intptr_t>(one) - reinterpret_cast<std::intptr_t>(other);
  return std::abs(distance) <= longest_row;
}

}  // namespace

void copy_batch::add(const strided_box& to, const strided_box& from) {
  if (to.size_bytes() == 0) return;
  const copy added{to.first, from.first, strided_copy(to, from)};
  bytes_ += to.size_bytes();
  for (std::size_t i = 0; i < copies_.size(); i += 1 + copies_[i].interleaved) {
    copy& first = copies_[i];
    const bool same_rows = first.shape.has_rows_of_short_runs() &&
                           added.shape.has_rows_of_short_runs() && is_near(first.to, added.to) &&
                           first.shape.piece_count() == added.shape.piece_count();
    if (!same_rows) continue;
    const auto position = copies_.begin() + static_cast<std::ptrdiff_t>(i + 1 + first.interleaved);
    ++first.interleaved;
    copies_.insert(position, added);
    return;
  }
  copies_.push_back(added);
}

void copy_batch::run(tasks* workers) const {
  if (workers != nullptr && workers->count() > 1 && bytes_ >= least_bytes_for_tasks) {
    workers->run([&](int task) { run_share(task, workers->count()); });
    return;
  }
  run_share(0, 1);
}

void copy_batch::run_share(int task, int count) const {
  for (std::size_t i = 0; i < copies_.size(); i += 1 + copies_[i].interleaved) {
    const copy& first = copies_[i];
    if (count == 1 && first.interleaved == 0) {
      first.shape(first.to, first.from);
      continue;
    }
    const index_range mine = static_share(first.shape.piece_count(), task, count);
    if (first.interleaved == 0) {
      first.shape.copy_pieces(first.to, first.from, mine.begin, mine.end);
      continue;
    }
    for (std::size_t piece = mine.begin; piece < mine.end; ++piece)
      for (std::size_t k = i; k <= i + first.interleaved; ++k)
        copies_[k].shape.copy_pieces(copies_[k].to, copies_[k].from, piece, piece + 1);
  }
}

}  // namespace longshore::detail
