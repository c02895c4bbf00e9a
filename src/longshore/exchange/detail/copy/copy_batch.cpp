// Groups copies that share rows, and runs the copies of a group piece by piece in turn. Large
// batches are shared by tasks.
#include <longshore/exchange/detail/copy/copy_batch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace longshore::detail {
namespace {

// Two copies that start within this distance are assumed to share rows, as the low and the high
// face of one block do. A wrong guess costs time only, because interleaved copies are independent.
constexpr std::ptrdiff_t max_row_bytes = 16 * 1024;

// Copies that share rows are added soon after each other: the pieces of one block and some fields. So
// adding a copy does not look at all copies before.
constexpr std::size_t searched_groups = 64;

// Cells are prefetched this many runs ahead, so that stores of a row delay no later loads.
constexpr std::ptrdiff_t runs_ahead = 16;

bool may_share_rows(const std::byte* a, const std::byte* b) {
  const auto distance = reinterpret_cast<std::intptr_t>(a) - reinterpret_cast<std::intptr_t>(b);
  return std::abs(distance) <= max_row_bytes;
}

}  // namespace

void copy_batch::add(const strided_box& to, const strided_box& from) {
  if (to.size_bytes() == 0) return;
  const placed_copy added{to.first, from.first, strided_copy(to, from)};
  bytes_ += to.size_bytes();
  runs_ += added.prepared.run_count();
  // Four runs lie side by side: the run and its copy at one face, and those at the opposite face. A
  // row ends with halo, and the next row begins with halo. Both faces are copied together.
  constexpr double runs_together = 4;
  const double together_bytes = runs_together * static_cast<double>(added.prepared.run_bytes());
  lines_ += added.prepared.line_count(2 * (1 + together_bytes / cache_line_bytes) / runs_together);
  for (std::size_t g = groups_.size() - std::min(groups_.size(), searched_groups);
       g < groups_.size(); ++g) {
    const std::size_t i = groups_[g];
    placed_copy& first = copies_[i];
    if (!may_share_rows(first.to, added.to)) continue;
    // Two copies with the same steps form a group of their own. Other copies with the same number
    // of pieces can take turns piece by piece (run_share).
    const bool fits = first.prepared.pairs_with(added.prepared)
                          ? first.interleaved == 0
                          : source_ != copy_source::messages &&
                                first.prepared.has_rows_of_short_runs() &&
                                added.prepared.has_rows_of_short_runs() &&
                                first.prepared.piece_count() == added.prepared.piece_count();
    if (!fits) continue;
    const auto position = copies_.begin() + static_cast<std::ptrdiff_t>(i + 1 + first.interleaved);
    ++first.interleaved;
    copies_.insert(position, added);
    for (std::size_t later = g + 1; later < groups_.size(); ++later) ++groups_[later];
    return;
  }
  groups_.push_back(copies_.size());
  copies_.push_back(added);
}

void copy_batch::run(tasks* workers) const {
  for_task_shares(workers, bytes_, [this](int task, int count) { run_share(task, count); });
}

void copy_batch::run_share(int task, int count) const {
  for (std::size_t i = 0; i < copies_.size(); i += 1 + copies_[i].interleaved) {
    const placed_copy& first = copies_[i];
    if (count == 1 && first.interleaved == 0) {
      first.prepared(first.to, first.from);
      continue;
    }
    const index_range share = static_share(first.prepared.piece_count(), task, count);
    if (first.interleaved == 0) {
      first.prepared.copy_pieces(first.to, first.from, share.begin, share.end);
      continue;
    }
    const placed_copy& second = copies_[i + 1];
    if (first.interleaved == 1 && first.prepared.pairs_with(second.prepared)) {
      const std::ptrdiff_t prefetched = source_ == copy_source::own_memory ? runs_ahead : 0;
      first.prepared.copy_pair(first.to, first.from,
                               {second.to - first.to, second.from - first.from, prefetched},
                               share.begin, share.end);
      continue;
    }
    for (std::size_t piece = share.begin; piece < share.end; ++piece)
      for (std::size_t k = i; k <= i + first.interleaved; ++k)
        copies_[k].prepared.copy_pieces(copies_[k].to, copies_[k].from, piece, piece + 1);
  }
}

}  // namespace longshore::detail
