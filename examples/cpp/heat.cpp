// Solves the heat equation in a periodic box with explicit steps, on any number of ranks.
//
// Each rank owns a cube of cells. A cell needs its six neighbours, and some neighbours lie on other
// ranks. A halo exchange copies those cells into a border around the cube. Meanwhile the rank
// computes the interior, which needs no border.
//
// Verification: a cosine wave keeps its shape, and its height falls by a known factor per step.
//
//     LONGSHORE_RANKS=4 heat        mpirun -n 4 heat
#include <longshore/longshore.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace {

constexpr int cells = 24;  // per rank and dimension
constexpr int steps = 50;
constexpr double diffusion = 0.1;  // per step, in squared cells

void update(const longshore::field<double>& u, longshore::field<double>& next, int z, int y,
            int x) {
  next(z, y, x) =
      u(z, y, x) + diffusion * (u(z, y, x - 1) + u(z, y, x + 1) + u(z, y - 1, x) + u(z, y + 1, x) +
                                u(z - 1, y, x) + u(z + 1, y, x) - 6 * u(z, y, x));
}

void update_interior(const longshore::field<double>& u, longshore::field<double>& next) {
  for (int z = 1; z < cells - 1; ++z)
    for (int y = 1; y < cells - 1; ++y)
      for (int x = 1; x < cells - 1; ++x) update(u, next, z, y, x);
}

void update_faces(const longshore::field<double>& u, longshore::field<double>& next) {
  const auto at_face = [](int i) { return i == 0 || i == cells - 1; };
  for (int z = 0; z < cells; ++z)
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; x += at_face(z) || at_face(y) ? 1 : cells - 1)
        update(u, next, z, y, x);
}

}  // namespace

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    const longshore::rank_grid grid(team, {.periodic = {true, true, true}});
    longshore::field<double> u(grid, {cells, cells, cells}, 1),
        next(grid, {cells, cells, cells}, 1);
    const longshore::halo_options options{.algorithm = longshore::halo_algorithm::automatic,
                                          .reach = longshore::halo_reach::faces};
    longshore::halo_exchange halo_of_u(grid, options, u), halo_of_next(grid, options, next);
    auto *halo = &halo_of_u, *next_halo = &halo_of_next;

    // The wave has one period along each dimension of the box. Its height is multiplied by `kept`
    // in each step.
    double kept = 1, angle[3];
    for (int d = 0; d < 3; ++d) {
      angle[d] = 2 * std::numbers::pi / (cells * grid.shape()[d]);
      kept -= 2 * diffusion * (1 - std::cos(angle[d]));
    }
    const auto wave = [&](int z, int y, int x) {
      const int here[3] = {x, y, z};
      double height = 1;
      for (int d = 0; d < 3; ++d)
        height *= std::cos(angle[d] * (cells * grid.coordinates()[d] + here[d]));
      return height;
    };
    for (int z = 0; z < cells; ++z)
      for (int y = 0; y < cells; ++y)
        for (int x = 0; x < cells; ++x) u(z, y, x) = wave(z, y, x);

    for (int step = 0; step < steps; ++step) {
      halo->start();
      update_interior(u, next);
      halo->wait();
      update_faces(u, next);
      std::swap(u, next);
      std::swap(halo, next_halo);  // A plan stays with the memory that it was made for.
    }

    double error = 0;
    for (int z = 0; z < cells; ++z)
      for (int y = 0; y < cells; ++y)
        for (int x = 0; x < cells; ++x)
          error = std::max(error, std::abs(u(z, y, x) - std::pow(kept, steps) * wave(z, y, x)));
    error = team.allreduce_value(error, longshore::reduction::max);
    if (team.rank() == 0)
      std::printf("heat: ranks=%d steps=%d error=%.1e verified=%s\n", team.size(), steps, error,
                  error < 1e-9 ? "yes" : "no");
    if (error >= 1e-9) throw std::runtime_error("heat: the height of the wave is wrong");
  });
}
