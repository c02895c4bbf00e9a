// Tests that plans of the C interface take fields in memory of a device, which is emulated here. The
// same plans of fields of the host must have the same results.
#include "checked.h"
#include "longshore.h"

#include <longshore/device/emulated.hpp>
#include <longshore/exchange/device_installation.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace {

longshore::testing::emulated_devices devices;

// An array in both memories.
class twin {
 public:
  explicit twin(std::size_t count)
      : host_(count), device_(devices.allocate(0, count * sizeof(double))) {}
  double* host() { return host_.data(); }
  double* device() { return reinterpret_cast<double*>(device_.get()); }
  void fill(int rank) {
    for (std::size_t i = 0; i < host_.size(); ++i)
      host_[i] = 1.0 / (1.0 + static_cast<double>((i * 37 + static_cast<std::size_t>(rank)) % 101));
    devices.copy(device(), host(), host_.size() * sizeof(double));
  }
  bool is_equal() {
    std::vector<double> now(host_.size());
    devices.copy(now.data(), device(), now.size() * sizeof(double));
    return now == host_;
  }

 private:
  std::vector<double> host_;
  std::shared_ptr<std::byte> device_;
};

int halos(longshore_team* team, const char* mode) {
  const std::array<std::int64_t, 3> extents{5, 4, 3};
  const std::array<int, 3> widths{1, 1, 1};
  twin cells(7 * 6 * 5);
  longshore_grid* grid = nullptr;
  CHECK_OK(longshore_grid_create(team, nullptr, &grid));
  longshore_halo_options options{};
  options.mode = mode;
  std::array<longshore_halo*, 2> plans{};
  for (const bool is_device : {false, true}) {
    longshore_field field{};
    longshore_field_dense(&field, is_device ? cells.device() : cells.host(), LONGSHORE_FLOAT64,
                          extents.data(), widths.data(), widths.data());
    CHECK_OK(longshore_halo_create(grid, &options, &field, 1, &plans[is_device]));
  }
  for (const bool adds : {false, true}) {
    cells.fill(longshore_team_rank(team));
    for (auto* plan : plans)
      CHECK_OK(adds ? longshore_halo_assemble(plan, LONGSHORE_SUM, nullptr)
                    : longshore_halo_exchange(plan));
    CHECK(cells.is_equal());
  }
  for (auto* plan : plans) CHECK_OK(longshore_halo_free(plan));
  CHECK_OK(longshore_grid_free(grid));
  return LONGSHORE_OK;
}

// Each rank has copies of all elements of the next rank.
int ghosts(longshore_team* team, const char* strategy) {
  constexpr std::int64_t owned = 6;
  std::array<std::int64_t, owned> next{};
  const int peer = (longshore_team_rank(team) + 1) % longshore_team_size(team);
  for (std::int64_t i = 0; i < owned; ++i) next[static_cast<std::size_t>(i)] = peer * owned + i;
  twin values(2 * owned);
  longshore_ghost_graph* graph = nullptr;
  CHECK_OK(longshore_ghost_graph_create(team, owned, next.data(), owned, &graph));
  longshore_ghost_options options{};
  options.strategy = strategy;
  std::array<longshore_ghost*, 2> plans{};
  for (const bool is_device : {false, true}) {
    double* const first = is_device ? values.device() : values.host();
    longshore_ghost_field field{};
    field.owned = first, field.ghosts = first + owned, field.type = LONGSHORE_FLOAT64;
    CHECK_OK(longshore_ghost_create(graph, &options, &field, 1, &plans[is_device]));
  }
  for (const bool adds : {false, true}) {
    values.fill(longshore_team_rank(team));
    for (auto* plan : plans)
      CHECK_OK(adds ? longshore_ghost_accumulate(plan, LONGSHORE_SUM)
                    : longshore_ghost_update(plan));
    CHECK(values.is_equal());
  }
  for (auto* plan : plans) CHECK_OK(longshore_ghost_free(plan));
  CHECK_OK(longshore_ghost_graph_free(graph));
  return LONGSHORE_OK;
}

int run_all(longshore_team* team, void*) {
  for (const char* mode : {"direct", "channel"}) PASS(halos(team, mode));
  for (const char* strategy : {"direct", "standard"}) PASS(ghosts(team, strategy));
  return LONGSHORE_OK;
}

}  // namespace

int main(int argc, char** argv) {
  const longshore::detail::device_installation installed(devices);
  const int code = longshore_run(argc, argv, run_all, nullptr);
  if (code == LONGSHORE_OK) return 0;
  fprintf(stderr, "%s: %s\n", longshore_error_name(code), longshore_error_message());
  return 1;
}
