// A program whose team, plans and arrays outlive MPI: an error that Longshore must report. The
// argument says what the program does after MPI_Finalize: "nothing", "destroy" all objects, "use"
// the team, or "leak" all objects.
#include <longshore/longshore.hpp>
#include <longshore/mpi.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

namespace {

struct objects {
  explicit objects(MPI_Comm communicator)
      : ranks(longshore::join(communicator)), grid(*ranks), cells(grid, {4, 4, 4}, 1) {
    using longshore::halo_mode;
    direct.emplace(grid, longshore::halo_options{}, cells);
    for (auto [plan, mode] :
         {std::pair{&persistent, halo_mode::persistent}, std::pair{&subarray, halo_mode::subarray}})
      plan->emplace(grid, longshore::halo_options{.mode = mode}, cells);
    table.emplace(*ranks, 100);
  }
  std::shared_ptr<longshore::team> ranks;
  longshore::rank_grid grid;
  longshore::field<double> cells;
  std::optional<longshore::halo_exchange> direct, persistent, subarray;
  std::optional<longshore::dist_array<int, longshore::block>> table;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view then = argc > 1 ? argv[1] : "nothing";
  MPI_Init(&argc, &argv);
  auto late = std::make_unique<objects>(MPI_COMM_WORLD);
  late->direct->exchange();
  if (then == "nothing") {
    late.reset();
    MPI_Finalize();
    std::puts("it went on");
    return 0;
  }
  MPI_Finalize();
  try {
    if (then == "use") (void)late->ranks->allreduce_value(1, longshore::reduction::sum);
  } catch (const longshore::error& e) {
    std::printf("refused: %s\n", e.what());
  }
  try {
    if (then == "use") late->ranks->barrier();
  } catch (const longshore::error& e) {
    std::printf("refused: %s\n", e.what());
  }
  if (then == "leak") static_cast<void>(late.release());
  late.reset();
  std::puts("it went on");  // what the program has still to say is not lost
  return 0;
}
