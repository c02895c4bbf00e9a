// A program that destroys, or uses, an object after the end of its team, which is an error. The
// arguments name the object, and what the program does with it: "destroy" or "use".
#include <longshore/longshore.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace longshore;

struct objects {
  std::unique_ptr<field<double>> cells;
  std::unique_ptr<halo_exchange> halos;
  std::unique_ptr<face_exchange> faces;
  std::vector<double, shared_allocator<double>> elements;
  std::unique_ptr<ghost_exchange> ghosts;
  std::unique_ptr<dist_array<double, block>> table;
  std::unique_ptr<gather_plan<double, block>> gathers;
  std::unique_ptr<bucket_sorter<std::uint32_t>> sorter;
  std::unique_ptr<segment> memory;
  std::unique_ptr<channel_set> channels;
};

void make(objects& made, const std::string& object, team& ranks) {
  const int size = ranks.size(), up = (ranks.rank() + 1) % size;
  const rank_grid grid(ranks);
  if (object == "direct" || object == "channel") {
    made.cells = std::make_unique<field<double>>(grid, std::array<std::size_t, 3>{8, 8, 8}, 1);
    made.halos = std::make_unique<halo_exchange>(
        grid, halo_options{.mode = object == "direct" ? halo_mode::direct : halo_mode::channel},
        *made.cells);
    made.halos->exchange();
  } else if (object == "faces") {
    made.faces = std::make_unique<face_exchange>(grid, face_options{.bytes = 100});
    made.faces->start();
    made.faces->wait();
  } else if (object == "ghosts") {
    made.elements.resize(11);
    double* const first = made.elements.data();
    made.ghosts = std::make_unique<ghost_exchange>(
        ghost_graph(ranks, std::size_t{10}, std::vector<std::int64_t>{10 * up}), ghost_options{},
        ghost_field(first, first + 10));
    made.ghosts->update();
  } else if (object == "table" || object == "gather") {
    made.table = std::make_unique<dist_array<double, block>>(ranks, 100);
    if (object == "table") return;
    made.gathers = std::make_unique<gather_plan<double, block>>(
        *made.table, gather_options{.strategy = gather_strategy::conveyor});
    const std::vector<std::int64_t> indices(50, 7);
    std::vector<double> values(50);
    (*made.gathers)(indices, values);
  } else if (object == "sorter") {
    made.sorter = std::make_unique<bucket_sorter<std::uint32_t>>(
        ranks, bucket_options{.exchange = exchange_strategy::channel, .max_key = 1000});
    const std::vector<std::uint32_t> keys(100, 7);
    (void)made.sorter->sort(keys);
  } else if (object == "segment") {
    made.memory = ranks.allocate(1000);
  } else if (object == "channels") {
    const channel_end to{up, 64}, from{(ranks.rank() + size - 1) % size, 64};
    made.channels = ranks.open_channels({&to, 1}, {&from, 1}, 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  std::vector<objects> made(16);  // by rank, if ranks are threads
  longshore::run(argc, argv, [&](team& ranks) {
    make(made[ranks.is_one_process() ? ranks.rank() : 0], argv[1], ranks);
    ranks.barrier();
  });
  try {
    if (std::string(argv[2]) == "use") {
      if (made[0].halos) made[0].halos->start();
      if (made[0].faces) made[0].faces->start();
      if (made[0].ghosts) made[0].ghosts->start_update();
    }
  } catch (const longshore::error& e) {
    std::printf("refused: %s\n", e.what());
  }
  made.clear();
  std::puts("it went on");  // what the program has still to say is not lost
  return 0;
}
