// A program that has started MPI reads random elements of a distributed table, and sorts particles
// over all ranks. It uses its own messages beside Longshore's.
//
//     mpirun -n 4 gather_and_sort
#include <longshore/longshore.hpp>
#include <longshore/mpi.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace {

struct particle {
  std::uint64_t cell;
  double mass;
};

/// Reads the masses of 1000 random species from a table that is distributed over all ranks.
std::vector<double> random_masses(longshore::team& team) {
  longshore::dist_array<double, longshore::block> table(team, 5000);
  for (std::size_t i = 0; i < table.local().size(); ++i)
    table.local()[i] = 1.0 + static_cast<double>(table.map().index_of(team.rank(), i));
  team.barrier();  // the table is complete
  std::mt19937 random(team.rank());
  std::vector<std::int64_t> species(1000);
  for (auto& one : species) one = random() % 5000;
  std::vector<double> masses(species.size());
  longshore::gather_plan read(table);
  read(species, masses);  // masses[i] is element species[i] of the table
  team.barrier();         // no rank frees the table while another one reads
  return masses;
}

/// Distributes the particles over the ranks, in the order of their cells.
std::vector<particle> by_cell(longshore::team& team, const std::vector<particle>& particles) {
  return longshore::bucket_sort(team, particles, {}, &particle::cell);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  {
    const std::shared_ptr<longshore::team> team = longshore::join(MPI_COMM_WORLD);
    std::vector<particle> particles;
    for (const double mass : random_masses(*team))
      particles.push_back({static_cast<std::uint64_t>(mass), mass});
    const std::vector<particle> sorted = by_cell(*team, particles);

    // Verification, with MPI: the numbers of particles, and the order within and between ranks.
    std::uint64_t number = sorted.size();
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    std::uint64_t last = sorted.empty() ? 0 : sorted.back().cell, before = 0;
    MPI_Exscan(&last, &before, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (team->rank() == 0) before = 0;
    for (const particle& one : sorted) {
      wrong +=
          one.cell < before || one.mass < 1 || one.cell != static_cast<std::uint64_t>(one.mass);
      before = one.cell;
    }
    wrong += number != 1000u * static_cast<unsigned>(team->size());
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (team->rank() == 0)
      std::printf("gather_and_sort: ranks=%d particles=%llu verified=%s\n", team->size(),
                  static_cast<unsigned long long>(number), wrong == 0 ? "yes" : "no");
  }  // The team ends here, before MPI_Finalize.
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
