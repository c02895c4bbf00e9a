// Sorts the scrambled rows and columns of a distributed matrix so that it is upper triangular. This
// is toposort of bale.
//
// A row with one remaining entry is a pivot. The row and the column of that entry get the last free
// position, and all other rows lose that column. So items create items: a pivot informs the owner
// of its column, this owner informs the owners of the rows in the column, and these rows may become
// pivots. There are no rounds: ranks process items as they arrive, and the engine detects the end.
#include <longshore/longshore.hpp>

#include "support/example_program.hpp"
#include "support/random_inputs.hpp"
#include "support/serial_checks.hpp"
#include "support/whole_array.hpp"
#include "transposition.hpp"

#include <algorithm>

namespace {

using examples::sparse_matrix;
using positions = longshore::dist_array<std::int64_t, longshore::cyclic>;

// The item sent between ranks. Row and column numbers have 32 bits, so that it has 16 bytes.
struct message {
  enum event : std::uint32_t { pivot, column_is_gone } kind;
  std::uint32_t offset;  // of the column (pivot) or of the row (column_is_gone) on its rank
  // The number of the row (pivot) or of the column (column_is_gone). In the last step: the position
  // of the pivot.
  std::uint32_t number;
  std::uint32_t level;  // of the pivot: 1 plus the highest level of the pivots that its row needs
};

class topological_sort {
 public:
  /// Collective. Makes the transpose of the matrix, for access by columns.
  topological_sort(examples::program& run, const sparse_matrix& matrix)
      : team_(run.team()),
        rows_(matrix),
        columns_(examples::transposition(run)(matrix)),
        engine_(team_, run.engine_for<message>({.items_create_items = true})) {}

  /// Collective. Returns the number of levels of pivots. Throws errc::usage on all ranks if no
  /// order makes the matrix triangular.
  std::int64_t operator()(positions& row_position, positions& column_position) {
    find_pivots();
    const auto highest = std::max_element(level_.begin(), level_.end());
    const auto levels = team_.allreduce_value(highest == level_.end() ? 0 : std::int64_t{*highest},
                                              longshore::reduction::max);
    const bool all_pivots =
        std::all_of(left_.begin(), left_.end(), [](std::int64_t left) { return left == 1; });
    if (team_.allreduce_value(all_pivots ? 1 : 0, longshore::reduction::min) == 0)
      longshore::fail(longshore::errc::usage,
                      "the matrix is not triangular in any order of its rows and columns");
    std::vector<std::int64_t> next = last_positions(levels);
    for (std::size_t row = 0; row < rows_.my_rows(); ++row)
      row_position.local()[row] = next[level_[row] - 1]--;
    longshore::deliver<message>(
        engine_, rows_.my_rows(),
        [&](std::size_t row) {
          auto found = pivot_of(row);
          found.item.number = static_cast<std::uint32_t>(row_position.local()[row]);
          return found;
        },
        [&](int, const message& m) { column_position.local()[m.offset] = m.number; });
    return levels;
  }

 private:
  void find_pivots() {
    const std::size_t n = rows_.my_rows();
    left_.assign(n, 0), sum_.assign(n, 0), level_.assign(n, 1),
        has_pivot_.assign(columns_.my_rows(), false);
    std::vector<std::size_t> single;
    for (std::size_t row = 0; row < n; ++row) {
      for (const std::int64_t column : rows_.columns_of(row)) ++left_[row], sum_[row] += column;
      if (left_[row] == 1) single.push_back(row);
    }
    longshore::deliver_recursive<message>(
        engine_, single.size(), [&](std::size_t i) { return pivot_of(single[i]); },
        [&](int, const message& m, const auto& emit) {
          if (m.kind == message::pivot) {
            if (has_pivot_[m.offset])
              // Two rows need the same column, so there is no order. This row gets no column.
              return;
            has_pivot_[m.offset] = true;
            for (const std::int64_t row : columns_.columns_of(m.offset)) {
              if (row == m.number) continue;
              const longshore::location at =
                  rows_.map().owner_offset(static_cast<std::uint64_t>(row));
              const auto column = static_cast<std::uint32_t>(columns_.row_number(m.offset));
              emit(at.rank, {message::column_is_gone, static_cast<std::uint32_t>(at.offset), column,
                             m.level});
            }
            return;
          }
          sum_[m.offset] -= m.number;
          level_[m.offset] = std::max(level_[m.offset], m.level + 1);
          if (--left_[m.offset] != 1) return;
          const auto found = pivot_of(m.offset);
          emit(found.rank, found.item);
        });
  }

  [[nodiscard]] longshore::addressed<message> pivot_of(std::size_t row) const {
    const longshore::location at =
        columns_.map().owner_offset(static_cast<std::uint64_t>(sum_[row]));
    const auto number = static_cast<std::uint32_t>(rows_.row_number(row));
    return {at.rank, {message::pivot, static_cast<std::uint32_t>(at.offset), number, level_[row]}};
  }

  // Indexed by level: the last position for this rank's pivots. Low levels come last. Within a
  // level, rank 0 has the last positions.
  [[nodiscard]] std::vector<std::int64_t> last_positions(std::int64_t levels) const {
    std::vector<std::int64_t> mine(static_cast<std::size_t>(levels)), first(mine.size());
    for (const std::uint32_t level : level_) ++mine[level - 1];
    const auto ranks = static_cast<std::size_t>(team_.size());
    constexpr std::size_t at_once = 1024;  // bounds the memory for the counts of all ranks
    std::int64_t position = static_cast<std::int64_t>(rows_.rows()) - 1;
    for (std::size_t begin = 0; begin < mine.size(); begin += at_once) {
      const std::span part = std::span(mine).subspan(begin, std::min(at_once, mine.size() - begin));
      std::vector<std::int64_t> all(part.size() * ranks);
      team_.allgather(std::as_bytes(part), std::as_writable_bytes(std::span(all)));
      for (std::size_t level = 0; level < part.size(); ++level)
        for (std::size_t rank = 0; rank < ranks; position -= all[rank++ * part.size() + level])
          if (static_cast<int>(rank) == team_.rank()) first[begin + level] = position;
    }
    return first;
  }

  longshore::team& team_;
  const sparse_matrix& rows_;
  sparse_matrix columns_;  // the transpose, whose rows are columns of the matrix
  longshore::conveyor engine_;
  std::vector<std::int64_t> left_;  // the number of remaining columns of each row
  // The sum of the numbers of these columns. The sum is the number of the last remaining column.
  std::vector<std::int64_t> sum_;
  std::vector<std::uint32_t> level_;  // of the pivot of each row
  std::vector<bool> has_pivot_;       // indexed by column
};

}  // namespace

int main(int argc, char** argv) {
  const examples::description about{
      .name = "topological_sort",
      .about = "sorts the scrambled rows and columns of a triangular sparse matrix",
      .size_is = "rows and columns of the matrix",
      .size = 100000,
      .options = {examples::row_entries_option()}};
  return examples::run_program(argc, argv, about, [](examples::program& run) {
    const double row_entries = run.options().number("row-entries");
    const sparse_matrix matrix =
        examples::scrambled_triangular_matrix(run.team(), run.size(), row_entries, run.seed());
    positions row_position(run.team(), run.size()), column_position(run.team(), run.size());
    topological_sort sort(run, matrix);
    std::int64_t levels = 0;
    run.measure([&] { levels = sort(row_position, column_position); });

    run.metric("levels", levels);
    run.rate("entries", matrix.my_entries());
    if (run.verifies()) {
      const auto whole = whole_on_rank_0(run.team(), matrix);
      const auto row_positions = examples::whole_on_rank_0(row_position),
                 column_positions = examples::whole_on_rank_0(column_position);
      run.verify(wrong_topological_order(whole, row_positions, column_positions,
                                         run.team().rank() == 0 ? levels : 0));
    }
  });
}
