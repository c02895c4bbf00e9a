// Permutes the rows and columns of a distributed sparse matrix: entry (i, j) becomes entry
// (p[i], q[j]). This is permute_matrix of bale.
//
// The matrix and both permutations are distributed cyclically. So p[i] lies on the rank of row i,
// but q[j] may lie on any rank. One gather fetches q[j] for all entries. Then every entry is sent
// to the rank of its new row.
#include <longshore/longshore.hpp>

#include "support/example_program.hpp"
#include "support/random_bijection.hpp"
#include "support/random_inputs.hpp"
#include "support/serial_checks.hpp"
#include "support/whole_array.hpp"

namespace {

using examples::row_entry;
using examples::sparse_matrix;
using positions = longshore::dist_array<std::int64_t, longshore::cyclic>;

// Use one object many times, because its engines and buffers are expensive to make.
class matrix_permutation {
 public:
  /// Collective. The permutations must outlive the object.
  matrix_permutation(examples::program& run, const positions& row_position,
                     const positions& column_position)
      : team_(run.team()),
        row_position_(row_position),
        column_position_of_(column_position, run.gather()),
        engine_(team_, run.engine_for<row_entry>()) {}

  /// Collective.
  sparse_matrix operator()(const sparse_matrix& matrix) {
    new_column_.resize(matrix.my_entries());
    column_position_of_(matrix.my_columns(), new_column_);
    sparse_matrix::walk walk(matrix);
    arrived_.clear();
    longshore::deliver<row_entry>(
        engine_, matrix.my_entries(),
        [&](std::size_t i) {
          const examples::entry e = walk(i);
          const auto new_row = static_cast<std::uint64_t>(row_position_.local()[e.offset]);
          const longshore::location at = matrix.map().owner_offset(new_row);
          return longshore::addressed<row_entry>{at.rank, {at.offset, new_column_[i], e.value}};
        },
        [&](int, const row_entry& e) { arrived_.push_back(e); });
    return {matrix.rows(), matrix.columns(), team_.rank(), team_.size(), arrived_};
  }

 private:
  longshore::team& team_;
  const positions& row_position_;
  longshore::gather_plan<std::int64_t, longshore::cyclic> column_position_of_;
  longshore::conveyor engine_;
  std::vector<std::int64_t> new_column_;  // indexed by entry
  std::vector<row_entry> arrived_;
};

// Collective.
void fill_with_random_permutation(positions& p, std::uint64_t seed) {
  const examples::random_bijection position_of(p.size(), seed);
  for (std::size_t offset = 0; offset < p.local().size(); ++offset)
    p.local()[offset] =
        position_of(static_cast<std::int64_t>(p.map().index_of(p.team().rank(), offset)));
  p.team().barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const examples::description about{
      .name = "permute_matrix",
      .about =
          "permutes the rows and columns of a sparse matrix whose rows are spread over all ranks",
      .size_is = "rows of the matrix",
      .size = 100000,
      .options = examples::matrix_options()};
  return examples::run_program(argc, argv, about, [](examples::program& run) {
    longshore::team& team = run.team();
    const sparse_matrix matrix = examples::chosen_matrix(run);
    positions row_position(team, matrix.rows()), column_position(team, matrix.columns());
    fill_with_random_permutation(row_position, run.seed() + 1);
    fill_with_random_permutation(column_position, run.seed() + 2);
    matrix_permutation permute(run, row_position, column_position);
    sparse_matrix result;
    run.measure([&] { result = permute(matrix); });

    run.rate("entries", matrix.my_entries());
    if (run.verifies())
      run.verify(examples::wrong_permuted_matrix(
          whole_on_rank_0(team, matrix), examples::whole_on_rank_0(row_position),
          examples::whole_on_rank_0(column_position), whole_on_rank_0(team, result)));
  });
}
