// Transposes a distributed sparse matrix, repeatedly with the same engine. transposition.hpp has
// the algorithm, which topological_sort.cpp uses, too.
#include <longshore/longshore.hpp>

#include "support/example_program.hpp"
#include "support/random_inputs.hpp"
#include "support/serial_checks.hpp"
#include "transposition.hpp"

int main(int argc, char** argv) {
  const examples::description about{
      .name = "transpose",
      .about = "transposes a sparse matrix whose rows are spread over all ranks",
      .size_is = "rows of the matrix",
      .size = 100000,
      .options = examples::matrix_options()};
  return examples::run_program(argc, argv, about, [](examples::program& run) {
    const examples::sparse_matrix matrix = examples::chosen_matrix(run);
    examples::transposition transpose(run);
    examples::sparse_matrix result;
    run.measure([&] { result = transpose(matrix); });

    run.rate("entries", matrix.my_entries());
    if (run.verifies())
      run.verify(examples::wrong_transpose(whole_on_rank_0(run.team(), matrix),
                                           whole_on_rank_0(run.team(), result)));
  });
}
