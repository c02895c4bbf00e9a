// Tests that plans of the C interface take fields in memory of a device, which is emulated here, and
// streams. The same plans of fields of the host must have the same results.
#include "checked.h"
#include "emulated_device.h"
#include "longshore.h"

#include <array>
#include <cstdint>
#include <vector>

namespace {

// An array in both memories.
class twin {
 public:
  explicit twin(std::size_t count) : host_(count), device_(emulated_memory(bytes())) {}
  double* at(bool is_device) { return is_device ? static_cast<double*>(device_) : host_.data(); }
  // The device gets the values when the stream comes to it.
  void fill_on(void* stream, int rank) {
    for (std::size_t i = 0; i < host_.size(); ++i)
      host_[i] = 1.0 / (1.0 + static_cast<double>((i * 37 + static_cast<std::size_t>(rank)) % 101));
    emulated_store(stream, device_, host_.data(), bytes());
  }
  bool is_equal_on(void* stream) {
    return emulated_equal(stream, device_, host_.data(), bytes()) != 0;
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return host_.size() * sizeof(double); }
  std::vector<double> host_;
  void* device_;
};

// The calls of an operation: without a stream, and the beginning on a stream.
template <class Plan>
struct operation {
  int (*run)(Plan*);
  int (*start_on)(Plan*, void*);
};

// Runs operations of two plans: of fields of the host, and of fields of a device. In `direct` plans
// no message passes through the host.
template <class Plan>
int compare(longshore_team* team, twin& cells, const std::array<Plan*, 2>& plans, bool is_direct,
            const std::vector<operation<Plan>>& operations, int (*wait)(Plan*),
            int (*wait_on)(Plan*, void*)) {
  void *const first = emulated_stream(0), *const second = emulated_stream(0);
  void* const of_other_device = emulated_stream(1);
  const auto& [on_host, on_device] = plans;
  for (const auto& [run, start_on] : operations) {
    cells.fill_on(first, longshore_team_rank(team));
    emulated_synchronise(first);
    CHECK_OK(run(on_host));
    CHECK_OK(run(on_device));
    CHECK(cells.is_equal_on(first));

    cells.fill_on(first, longshore_team_rank(team) + 1);
    CHECK_OK(run(on_host));
    CHECK_OK(longshore_barrier(team));
    CHECK_OK(start_on(on_device, first));
    CHECK_OK(wait_on(on_device, second));
    CHECK(!is_direct || !emulated_is_done(first));  // the call waited for no work of the device
    CHECK_OK(longshore_barrier(team));
    CHECK(cells.is_equal_on(second));

    CHECK_REFUSED(start_on(on_host, first), LONGSHORE_ERROR_USAGE, "without a stream");
    CHECK_REFUSED(start_on(on_device, of_other_device), LONGSHORE_ERROR_USAGE,
                  "belongs to device 1");
    CHECK_OK(start_on(on_device, nullptr));
    CHECK_REFUSED(wait_on(on_device, of_other_device), LONGSHORE_ERROR_USAGE,
                  "belongs to device 1");
    CHECK_OK(wait(on_device));
  }
  return LONGSHORE_OK;
}

// One of the two layers of the halo.
constexpr longshore_part layer{nullptr, 0, 1, nullptr, nullptr, {}};

int halos(longshore_team* team, const char* mode) {
  const std::array<std::int64_t, 3> extents{5, 4, 3};
  const std::array<int, 3> widths{2, 2, 2};
  twin cells(9 * 8 * 7);
  longshore_grid* grid = nullptr;
  CHECK_OK(longshore_grid_create(team, nullptr, &grid));
  longshore_halo_options options{};
  options.mode = mode;
  using plan = longshore_halo*;
  std::array<plan, 2> plans{};
  for (const bool is_device : {false, true}) {
    longshore_field field{};
    longshore_field_dense(&field, cells.at(is_device), LONGSHORE_FLOAT64, extents.data(),
                          widths.data(), widths.data());
    CHECK_OK(longshore_halo_create(grid, &options, &field, 1, &plans[is_device]));
  }
  PASS(compare<longshore_halo>(
      team, cells, plans, mode[0] == 'd',
      {{[](plan halo) { return longshore_halo_exchange_part(halo, &layer); },
        [](plan halo, void* stream) { return longshore_halo_start_on(halo, &layer, stream); }},
       {[](plan halo) { return longshore_halo_accumulate(halo, LONGSHORE_SUM, &layer); },
        [](plan halo, void* stream) {
          return longshore_halo_start_accumulate_on(halo, LONGSHORE_SUM, &layer, stream);
        }},
       {[](plan halo) { return longshore_halo_assemble(halo, LONGSHORE_SUM, &layer); },
        [](plan halo, void* stream) {
          return longshore_halo_start_assemble_on(halo, LONGSHORE_SUM, &layer, stream);
        }}},
      longshore_halo_wait, longshore_halo_wait_on));
  for (auto* halo : plans) CHECK_OK(longshore_halo_free(halo));
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
  using plan = longshore_ghost*;
  std::array<plan, 2> plans{};
  for (const bool is_device : {false, true}) {
    longshore_ghost_field field{};
    field.owned = values.at(is_device), field.ghosts = values.at(is_device) + owned;
    field.type = LONGSHORE_FLOAT64;
    CHECK_OK(longshore_ghost_create(graph, &options, &field, 1, &plans[is_device]));
  }
  PASS(compare<longshore_ghost>(
      team, values, plans, strategy[0] == 'd',
      {{longshore_ghost_update, longshore_ghost_start_update_on},
       {[](plan ghost) { return longshore_ghost_accumulate(ghost, LONGSHORE_SUM); },
        [](plan ghost, void* stream) {
          return longshore_ghost_start_accumulate_on(ghost, LONGSHORE_SUM, stream);
        }},
       {[](plan ghost) { return longshore_ghost_assemble(ghost, LONGSHORE_SUM); },
        [](plan ghost, void* stream) {
          return longshore_ghost_start_assemble_on(ghost, LONGSHORE_SUM, stream);
        }}},
      longshore_ghost_wait, longshore_ghost_wait_on));
  for (auto* ghost : plans) CHECK_OK(longshore_ghost_free(ghost));
  CHECK_OK(longshore_ghost_graph_free(graph));
  return LONGSHORE_OK;
}

// Each rank has one box of a row, and in the other layout the box of the next rank.
int boxes(longshore_team* team, const char* mode) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  longshore_boxes_options domain{{0, 0, 0}, {3 * ranks, 1, 1}, {1, 0, 0}, nullptr, 0, {}};
  std::array<longshore_boxes*, 2> layouts{};
  for (const int turn : {0, 1}) {
    const longshore_box box{{3 * ((rank + turn) % ranks), 0, 0}, {3, 4, 1}};
    CHECK_OK(
        longshore_boxes_create(team, &box, 1, &domain, &layouts[static_cast<std::size_t>(turn)]));
  }
  constexpr std::size_t count = 7 * 8;  // with the halo
  twin cells(2 * count);
  const std::array<std::int64_t, 3> extents{3, 4, 1};
  const std::array<int, 3> widths{2, 2, 0};
  longshore_box_exchange_options options{};
  options.mode = mode;
  longshore_box_copy_options copy_options{};
  copy_options.mode = mode;
  std::array<longshore_box_exchange*, 2> exchanges{};
  std::array<longshore_box_copy*, 2> copies{};
  for (const bool is_device : {false, true}) {
    std::array<longshore_field, 2> arrays{};
    std::array<longshore_box_field, 2> fields{};
    for (const std::size_t f : {0, 1}) {
      longshore_field_dense(&arrays[f], cells.at(is_device) + f * count, LONGSHORE_FLOAT64,
                            extents.data(), widths.data(), widths.data());
      fields[f] = {&arrays[f], 1, LONGSHORE_FLOAT64, 0, 0, {2, 2, 0}, {2, 2, 0}, {}};
    }
    CHECK_OK(longshore_box_exchange_create(layouts[0], &options, fields.data(), 1,
                                           &exchanges[is_device]));
    CHECK_OK(longshore_box_copy_create(layouts[0], fields.data(), layouts[1], &fields[1], 1,
                                       &copy_options, &copies[is_device]));
  }
  using plan = longshore_box_exchange*;
  PASS(compare<longshore_box_exchange>(
      team, cells, exchanges, mode[0] == 'd',
      {{[](plan halo) { return longshore_box_exchange_update_part(halo, &layer); },
        [](plan halo, void* stream) {
          return longshore_box_exchange_start_update_on(halo, &layer, stream);
        }},
       {[](plan halo) { return longshore_box_exchange_accumulate(halo, LONGSHORE_SUM, &layer); },
        [](plan halo, void* stream) {
          return longshore_box_exchange_start_accumulate_on(halo, LONGSHORE_SUM, &layer, stream);
        }},
       {[](plan halo) { return longshore_box_exchange_assemble(halo, LONGSHORE_SUM, &layer); },
        [](plan halo, void* stream) {
          return longshore_box_exchange_start_assemble_on(halo, LONGSHORE_SUM, &layer, stream);
        }}},
      longshore_box_exchange_wait, longshore_box_exchange_wait_on));
  PASS(compare<longshore_box_copy>(team, cells, copies, mode[0] == 'd',
                                   {{longshore_box_copy_run, longshore_box_copy_start_on}},
                                   longshore_box_copy_wait, longshore_box_copy_wait_on));
  for (auto* exchange : exchanges) CHECK_OK(longshore_box_exchange_free(exchange));
  for (auto* copy : copies) CHECK_OK(longshore_box_copy_free(copy));
  for (auto* layout : layouts) CHECK_OK(longshore_boxes_free(layout));
  return LONGSHORE_OK;
}

int run_all(longshore_team* team, void*) {
  for (const char* mode : {"direct", "channel"}) {
    PASS(halos(team, mode));
    PASS(boxes(team, mode));
  }
  for (const char* strategy : {"direct", "standard"}) PASS(ghosts(team, strategy));
  return LONGSHORE_OK;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = longshore_run(argc, argv, run_all, nullptr);
  if (code == LONGSHORE_OK) return 0;
  fprintf(stderr, "%s: %s\n", longshore_error_name(code), longshore_error_message());
  return 1;
}
