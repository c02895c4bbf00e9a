// The transpose of a sparse matrix: every entry goes to the rank that has its column as a row, where a counting sort puts the rows together.
// One pass over the network; bale's transpose_matrix makes two, the first of which counts.
#include <longshore/longshore.hpp>

#include "example_program.hpp"
#include "random_inputs.hpp"
#include "serial_checks.hpp"

namespace {

using examples::row_entry;
using examples::sparse_matrix;

// Made once and used often: the engine and its buffers stay.
class transposition {
 public:
  explicit transposition(examples::program& run) : team_(run.team()), engine_(team_, run.engine_for<row_entry>()) {}

  /// Collective.
  sparse_matrix operator()(const sparse_matrix& matrix) {
    const sparse_matrix::row_map to({}, matrix.columns(), team_.size());
    sparse_matrix::walk walk(matrix);
    arrived_.clear();
    longshore::deliver<row_entry>(
        engine_, matrix.my_entries(),
        [&](std::size_t i) {
          const examples::entry e = walk(i);
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

}  // namespace

int main(int argc, char** argv) {
  const examples::description about{
      .name = "transpose",
      .about = "transposes a sparse matrix whose rows are spread over all ranks",
      .size_is = "rows of the matrix",
      .size = 100000,
      .options = {examples::row_entries_option(), {"columns", "0", "of the matrix; 0: as many as rows", 0, 4294967295.0}}};
  return examples::run_program(argc, argv, about, [](examples::program& run) {
    const std::uint64_t columns = run.options().whole("columns");
    const sparse_matrix matrix = examples::random_matrix(run.team(), run.size(), columns == 0 ? run.size() : columns,
                                                         run.options().number("row-entries"), run.seed());
    transposition transpose(run);
    sparse_matrix result;
    run.measure([&] { result = transpose(matrix); });

    run.rate("entries", matrix.my_entries());
    if (run.verifies())
      run.verify(examples::wrong_transpose(whole_on_rank_0(run.team(), matrix), whole_on_rank_0(run.team(), result)));
  });
}
