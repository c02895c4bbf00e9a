// A program that has started MPI itself exchanges the ghosts of one pattern.
#include <longshore/ghost/ghost_exchange.hpp>
#include <longshore/mpi.hpp>

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = false;
  {
    const auto team = longshore::join(MPI_COMM_WORLD);
    const int next = (team->rank() + 1) % team->size();
    const std::vector<std::int64_t> ghosts{next};
    const longshore::ghost_graph graph(*team, 1, std::span<const std::int64_t>(ghosts));
    std::vector<double> x{static_cast<double>(team->rank()), -1};
    longshore::ghost_exchange plan(graph, {}, longshore::ghost_field(x.data(), x.data() + 1));
    plan.update();
    right = x[1] == next;
  }
  MPI_Finalize();
  std::printf("joined: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
