// Finds the order in which a matrix with scrambled rows and columns is upper triangular, as
// toposort of bale does. A row with one entry left is a pivot: it goes to the last free place, its
// column to the same place, and all other rows lose that column. Hence items that create items: a
// pivot tells the owner of its column, who tells the owners of the rows in it, whose last column
// may make them pivots. There are no rounds: a rank works on what arrives, and the engine finds out
// when nothing is under way any more.
#include <longshore/longshore.hpp>

#include "example_program.hpp"
#include "random_inputs.hpp"
#include "serial_checks.hpp"
#include "transposition.hpp"
#include "whole_array.hpp"

namespace {

using examples::sparse_matrix;
using places = longshore::dist_array<std::int64_t, longshore::cyclic>;

// What travels. Numbers of rows and columns have 32 bits, so that an item has 16 bytes.
struct message {
  enum kind : std::uint32_t { pivot, column_is_gone } what;
  std::uint32_t offset;  // of the column (pivot) or row (column_is_gone) at its owner
  // of the row (pivot) or column (column_is_gone) that it is about; in the end a place
  std::uint32_t number;
  std::uint32_t level;  // of the pivot: one more than the highest that its row waited for
};

class topological_sort {
 public:
  /// Collective. For one matrix, whose columns are collected here.
  topological_sort(examples::program& run, const sparse_matrix& matrix)
      : team_(run.team()),
        rows_(matrix),
        columns_(examples::transposition(run)(matrix)),
        engine_(team_, run.engine_for<message>({.items_create_items = true})) {}

  /// Collective. Throws errc::usage, on all ranks, when there is no such order. Returns how many
  /// levels of pivots there are.
  std::int64_t operator()(places& row_place, places& column_place) {
    find_pivots();
    const auto highest = std::max_element(level_.begin(), level_.end());
    const auto levels = team_.allreduce_value(highest == level_.end() ? 0 : std::int64_t{*highest},
                                              longshore::reduction::max);
    const bool all_pivots =
        std::all_of(left_.begin(), left_.end(), [](std::int64_t left) { return left == 1; });
    if (team_.allreduce_value(all_pivots ? 1 : 0, longshore::reduction::min) == 0)
      longshore::fail(longshore::errc::usage,
                      "the matrix is not triangular in any order of its rows and columns");
    std::vector<std::int64_t> next = first_places(levels);
    for (std::size_t row = 0; row < rows_.my_rows(); ++row)
      row_place.local()[row] = next[level_[row] - 1]--;
    longshore::deliver<message>(
        engine_, rows_.my_rows(),
        [&](std::size_t row) {
          auto found = pivot_of(row);
          found.item.number = static_cast<std::uint32_t>(row_place.local()[row]);
          return found;
        },
        [&](int, const message& m) { column_place.local()[m.offset] = m.number; });
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
          if (m.what == message::pivot) {
            if (has_pivot_[m.offset])
              // two rows want one column: there is no order, and this row will have no column left
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

  // By level: the last of the places of this rank's pivots. Low levels are last; of one level, rank
  // 0 has the last places.
  [[nodiscard]] std::vector<std::int64_t> first_places(std::int64_t levels) const {
    std::vector<std::int64_t> mine(static_cast<std::size_t>(levels)), first(mine.size());
    for (const std::uint32_t level : level_) ++mine[level - 1];
    const auto ranks = static_cast<std::size_t>(team_.size());
    constexpr std::size_t at_once = 1024;  // bounds the memory for the counts of all ranks
    std::int64_t place = static_cast<std::int64_t>(rows_.rows()) - 1;
    for (std::size_t begin = 0; begin < mine.size(); begin += at_once) {
      const std::span part = std::span(mine).subspan(begin, std::min(at_once, mine.size() - begin));
      std::vector<std::int64_t> all(part.size() * ranks);
      team_.allgather(std::as_bytes(part), std::as_writable_bytes(std::span(all)));
      for (std::size_t level = 0; level < part.size(); ++level)
        for (std::size_t rank = 0; rank < ranks; place -= all[rank++ * part.size() + level])
          if (static_cast<int>(rank) == team_.rank()) first[begin + level] = place;
    }
    return first;
  }

  longshore::team& team_;
  const sparse_matrix& rows_;
  sparse_matrix columns_;  // each as a row of the transpose
  longshore::conveyor engine_;
  std::vector<std::int64_t> left_,
      // of the columns that each row still has: how many, and their numbers added up
      sum_;
  std::vector<std::uint32_t> level_;  // of each row's pivot
  std::vector<bool> has_pivot_;       // by column
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
    places row_place(run.team(), run.size()), column_place(run.team(), run.size());
    topological_sort sort(run, matrix);
    std::int64_t levels = 0;
    run.measure([&] { levels = sort(row_place, column_place); });

    run.figure("levels", levels);
    run.rate("entries", matrix.my_entries());
    if (run.verifies()) {
      const auto whole = whole_on_rank_0(run.team(), matrix);
      const auto of_rows = examples::whole_on_rank_0(row_place),
                 of_columns = examples::whole_on_rank_0(column_place);
      run.verify(
          wrong_topological_order(whole, of_rows, of_columns, run.team().rank() == 0 ? levels : 0));
    }
  });
}
