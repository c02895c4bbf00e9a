// The transpose of a distributed sparse matrix. Every entry is sent to the rank that owns the
// entry's column as a row of the result. There a counting sort forms the rows. One pass over the
// network is enough. bale's transpose_matrix makes an earlier pass that counts.
#pragma once

#include <longshore/longshore.hpp>

#include "support/example_program.hpp"
#include "support/sparse_matrix.hpp"

namespace examples {

/// Use one object many times, because its engine and buffers are expensive to make.
class transposition {
 public:
  explicit transposition(program& run)
      : team_(run.team()), engine_(team_, run.engine_for<row_entry>()) {}

  /// Collective.
  sparse_matrix operator()(const sparse_matrix& matrix) {
    const sparse_matrix::row_map to({}, matrix.columns(), team_.size());
    sparse_matrix::walk walk(matrix);
    arrived_.clear();
    longshore::deliver<row_entry>(
        engine_, matrix.my_entries(),
        [&](std::size_t i) {
          const entry e = walk(i);
          const longshore::location at = to.owner_offset(static_cast<std::uint64_t>(e.column));
          return longshore::addressed<row_entry>{at.rank, {at.offset, e.row, e.value}};
        },
        [&](int, const row_entry& e) { arrived_.push_back(e); });
    return {matrix.columns(), matrix.rows(), team_.rank(), team_.size(), arrived_};
  }

 private:
  longshore::team& team_;
  longshore::conveyor engine_;
  std::vector<row_entry> arrived_;
};

}  // namespace examples
