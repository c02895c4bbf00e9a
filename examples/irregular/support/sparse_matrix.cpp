#include "sparse_matrix.hpp"

#include "whole_array.hpp"

#include <algorithm>
#include <utility>

namespace examples {

sparse_matrix::sparse_matrix(std::uint64_t rows, std::uint64_t columns, int rank, int ranks,
                             std::span<const row_entry> entries)
    : map_({}, rows, ranks),
      columns_(columns),
      rank_(rank),
      start_(map_.local_size(rank) + 1),
      column_(entries.size()),
      value_(entries.size()) {
  // A counting sort by rows. Then every row is sorted by columns, since rows are short.
  for (const row_entry& e : entries) ++start_[e.offset + 1];
  for (std::size_t row = 1; row < start_.size(); ++row) start_[row] += start_[row - 1];
  std::vector<std::pair<std::int64_t, double>> sorted(entries.size());
  std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
  for (const row_entry& e : entries) sorted[next[e.offset]++] = {e.column, e.value};
  for (std::size_t row = 0; row + 1 < start_.size(); ++row)
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(start_[row]),
              sorted.begin() + static_cast<std::ptrdiff_t>(start_[row + 1]));
  for (std::size_t i = 0; i < sorted.size(); ++i) std::tie(column_[i], value_[i]) = sorted[i];
}

sparse_matrix sparse_matrix::with_values(double above, double max) const {
  std::vector<row_entry> chosen;
  for (std::size_t offset = 0; offset < my_rows(); ++offset)
    for (std::size_t k = start_[offset]; k < start_[offset + 1]; ++k)
      if (value_[k] > above && value_[k] <= max) chosen.push_back({offset, column_[k], value_[k]});
  return {rows(), columns(), rank_, map_.ranks(), chosen};
}

sparse_matrix whole_on_rank_0(longshore::team& team, const sparse_matrix& matrix) {
  std::vector<row_entry> mine(matrix.my_entries());
  sparse_matrix::walk walk(matrix);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const entry e = walk(i);
    // In a matrix on one rank, the offset of a row is its number.
    mine[i] = {static_cast<std::uint64_t>(e.row), e.column, e.value};
  }
  const auto all = collected_on_rank_0(team, std::span<const row_entry>(mine));
  return team.rank() == 0 ? sparse_matrix(matrix.rows(), matrix.columns(), 0, 1, all)
                          : sparse_matrix();
}

}  // namespace examples
