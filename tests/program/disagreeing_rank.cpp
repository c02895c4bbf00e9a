// Draws arguments of collective calls, and lets one rank pass others. Every rank must get an error,
// and the team must be usable afterwards. Arguments: the first seed, and the number of seeds.
#include <longshore/core/random.hpp>
#include <longshore/longshore.hpp>

#include <fmt/ranges.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace longshore;

// Arguments of a call as numbers, and the number of values that each may have.
struct call {
  std::string name;
  std::vector<int> choices;
};

const std::vector<call> calls = {
    {"halo", {5, 2, 3, 2, 3}}, {"faces", {2, 3}},        {"ghost", {4, 3, 3}},
    {"array", {3, 3, 2}},      {"gather", {4, 3, 2, 2}}, {"sort", {3, 2, 2, 2, 2, 3}},
    {"grid", {3, 2, 4, 2}},    {"update", {2, 3}},       {"engine", {2, 2, 3, 2, 2}},
};

template <class Table>
void make_plan(Table& table, const std::vector<int>& with) {
  using strategy = gather_strategy;
  constexpr strategy strategies[] = {strategy::exstack, strategy::exstack2, strategy::conveyor,
                                     strategy::aggregator};
  const gather_options options{.strategy = strategies[with[0]],
                               .buffer_items = std::size_t{16} << with[1],
                               .hops = strategies[with[0]] == strategy::conveyor ? with[2] + 1 : 0,
                               .combine = with[3] == 1};
  const gather_plan plan(table, options);
}

void sort_items(team& ranks, const std::vector<int>& with) {
  constexpr exchange_strategy exchanges[] = {exchange_strategy::channel, exchange_strategy::put,
                                             exchange_strategy::alltoallv};
  const bucket_options options{
      .exchange = exchanges[with[0]],
      .max_key = with[4] == 0 ? 0u : 1000u << with[1],
      .stable = with[2] == 1,
      .splitters = with[3] == 1 ? bucket_splitters::sampled : bucket_splitters::equal_width};
  const auto sort = [&]<class Key>(Key) {
    bucket_sorter<Key> sorter(ranks, options);
    (void)sorter.sort(std::vector<Key>(100, Key{7}));
  };
  if (with[5] == 0) sort(std::uint32_t{});
  if (with[5] == 1) sort(std::int32_t{});
  if (with[5] == 2) sort(std::uint64_t{});
}

void exchange_halos(team& ranks, const std::vector<int>& with) {
  const rank_grid grid(ranks);
  const int width = with[4] == 2 ? 2 : 1;
  const field<double> a(grid, {4, 4, 4}, width), b(grid, {4, 4, 4}, width);
  const field<std::int64_t> c(grid, {4, 4, 4}, width);
  constexpr halo_algorithm algorithms[] = {halo_algorithm::standard, halo_algorithm::staged,
                                           halo_algorithm::sequenced,
                                           halo_algorithm::staged_sequenced, halo_algorithm::faces};
  const halo_options options{.algorithm = algorithms[with[0]],
                             .mode = with[1] == 0 ? halo_mode::direct : halo_mode::channel,
                             .reach = static_cast<halo_reach>(with[2] + 1)};
  std::vector<field_memory> fields{a.memory()};
  if (with[3] == 1) fields[0] = c.memory();
  if (with[4] == 1) fields.push_back(b.memory());
  halo_exchange(grid, options, fields).exchange();
}

void exchange_ghosts(team& ranks, const std::vector<int>& with) {
  const std::int64_t next = (ranks.rank() + 1) % ranks.size() * 10;
  const ghost_graph graph(ranks, std::size_t{10}, std::vector<std::int64_t>{next});
  constexpr ghost_strategy strategies[] = {ghost_strategy::direct, ghost_strategy::standard,
                                           ghost_strategy::node_aware_2,
                                           ghost_strategy::node_aware};
  const ghost_options options{
      .strategy = strategies[with[0]], .updates = with[1] != 1, .accumulates = with[1] != 2};
  std::vector<double> x(11);
  std::vector<std::int64_t> y(11);
  std::vector<float> z(11);
  const std::vector<ghost_memory> fields{ghost_field(x.data(), x.data() + 10).memory(),
                                         ghost_field(y.data(), y.data() + 10).memory(),
                                         ghost_field(z.data(), z.data() + 10).memory()};
  ghost_exchange plan(graph, options, {fields[static_cast<std::size_t>(with[2])]});
  if (options.updates) plan.update();
}

void make_grid(team& ranks, const std::vector<int>& with) {
  constexpr grid_placement placements[] = {grid_placement::linear, grid_placement::cart,
                                           grid_placement::automatic};
  rank_grid(ranks, {.dimensions = 2 + with[1],
                    .ranks = {with[2]},
                    .periodic = {with[3] == 1, true, true},
                    .placement = placements[with[0]]});
}

void update_elements(team& ranks, const std::vector<int>& with) {
  dist_array<std::int64_t, block> table(ranks, 100);
  const update_options options{.strategy = with[0] == 0 ? gather_strategy::exstack
                                                        : gather_strategy::conveyor};
  if (with[1] == 0) update_plan(table, op::add{}, options);
  if (with[1] == 1) update_plan(table, op::max{}, options);
  if (with[1] == 2) update_plan(table, op::bit_xor{}, options);
}

void make_engine(team& ranks, const std::vector<int>& with) {
  conveyor(ranks, {.item_bytes = std::size_t{8} << with[0],
                   .slots = 2 + with[1],
                   .hops = 1 + with[2],
                   .with_source = with[3] == 1,
                   .items_create_items = with[4] == 1});
}

void make(team& ranks, const std::string& name, const std::vector<int>& with) {
  if (name == "halo") exchange_halos(ranks, with);
  if (name == "faces") {
    face_exchange faces(rank_grid(ranks),
                        {.bytes = std::size_t{64} << with[1],
                         .mode = with[0] == 0 ? halo_mode::channel : halo_mode::direct});
    faces.start();
    faces.wait();
  }
  if (name == "ghost") exchange_ghosts(ranks, with);
  if (name == "sort") sort_items(ranks, with);
  if (name == "grid") make_grid(ranks, with);
  if (name == "update") update_elements(ranks, with);
  if (name == "engine") make_engine(ranks, with);
  if (name == "gather") {
    const dist_array<std::int64_t, block> table(ranks, 100);
    make_plan(table, with);
  }
  if (name == "array") {
    const std::uint64_t size = 100 + static_cast<std::uint64_t>(with[0]);
    const auto array = [&]<class T>(T) {
      if (with[2] == 0)
        const dist_array<T, block> made(ranks, size);
      else
        const dist_array<T, cyclic> made(ranks, size);
    };
    if (with[1] == 0) array(double{});
    if (with[1] == 1) array(std::int64_t{});
    if (with[1] == 2) array(float{});
  }
}

// The arguments without those that others make meaningless.
std::vector<int> meant(const std::string& name, std::vector<int> with) {
  if (name == "gather" && with[0] != 2) with[2] = 0;  // hops are of a conveyor
  if (name == "sort" && with[4] == 0) with[1] = 0;    // no max_key
  return with;
}

// Whether all ranks refuse the call, or, if `is_same`, none does.
bool is_right(team& ranks, std::uint64_t seed, bool is_same) {
  random_stream random(seed, 0);
  const auto below = [&](std::size_t count) {
    return static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(count)));
  };
  const call& drawn = calls[below(calls.size())];
  std::vector<int> with;
  for (const int choices : drawn.choices)
    with.push_back(static_cast<int>(below(static_cast<std::size_t>(choices))));
  const auto changed = below(drawn.choices.size());
  const auto step = 1 + below(static_cast<std::size_t>(drawn.choices[changed]) - 1);
  const bool is_other =
      below(static_cast<std::size_t>(ranks.size())) == static_cast<std::size_t>(ranks.rank());
  auto mine = with;
  // All ranks know what the other one passes.
  auto others = with;
  others[changed] = (others[changed] + static_cast<int>(step)) % drawn.choices[changed];
  if (meant(drawn.name, others) == meant(drawn.name, with)) return true;
  if (is_other && !is_same) mine = others;
  std::optional<error> refused;
  try {
    make(ranks, drawn.name, mine);
  } catch (const error& e) {
    refused = e;
  }
  const int count = ranks.allreduce_value<int>(refused ? 1 : 0, reduction::sum);
  // The arguments alone may be refused, too: then all ranks refuse them.
  const bool right = is_same ? count == 0 || count == ranks.size() : count == ranks.size();
  if (!right && ranks.rank() == 0)
    fmt::print("seed {}: {} {} with argument {} of another rank{}: {} of {} ranks refuse it\n",
               seed, drawn.name, fmt::join(with, ","), changed, is_same ? " (not changed)" : "",
               count, ranks.size());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10),
                      count = std::strtoull(argv[2], nullptr, 10);
  bool all_right = true;
  longshore::run(argc, argv, [&](team& ranks) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      const bool right = is_right(ranks, seed, false) && is_right(ranks, seed, true);
      if (ranks.rank() == 0 && !right) all_right = false;
    }
    if (ranks.rank() == 0 && all_right)
      fmt::print("{} seeds: every disagreement was refused on all ranks\n", count);
  });
  return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
