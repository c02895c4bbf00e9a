// Tests exchanges of fields in memory of the program: packed past the caches, and in memory of
// shared_allocator, which neighbours read directly.
#include <longshore/exchange/caches_test.hpp>
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>
#include <longshore/halo/detail/grid_handshake.hpp>
#include <longshore/halo/detail/neighbour_fields.hpp>
#include <longshore/halo/detail/round_program.hpp>
#include <longshore/halo/halo_test.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/shared_allocator.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <array>

namespace longshore {
namespace {

using testing::expect_right;
using testing::expect_right_exchanges;
using testing::possible_modes;
using testing::spmd;

template <class Vector>
field_view<typename Vector::value_type> view_of(Vector& cells,
                                                const std::array<std::size_t, 3>& extents,
                                                int width) {
  std::array<std::ptrdiff_t, 3> strides{};
  std::ptrdiff_t count = 1, first = 0;
  for (int d = 0; d < 3; ++d) {
    strides[d] = count;
    first += width * count;
    count *= static_cast<std::ptrdiff_t>(extents[d]) + 2 * width;
  }
  cells.resize(static_cast<std::size_t>(count));
  return {cells.data() + first, extents, strides, width};
}

// Exchanges of a field by channels whose peers are all far away. Returns the wrong cell, or nothing.
// `fault` changes the messages.
template <class T>
std::optional<std::string> wrong_after_streaming(team& team, const auto& fault) {
  const rank_grid grid(team, {.periodic = {false, false, false}});
  std::vector<T> cells;
  const auto u = view_of(cells, {24, 20, 22}, 3);
  const detail::exchanged_field part{u.memory(), 3};
  const auto known =
      detail::learn_fields_of_neighbours(team, *detail::messenger_of(grid), std::span(&part, 1));
  auto rounds =
      detail::plan_rounds(halo_algorithm::standard, {grid, std::span(&part, 1), known.of_rank});
  fault(rounds[0]);
  const testing::assumed_caches far(team, true);
  auto setup = detail::setup_of_rounds(grid, halo_mode::channel, rounds, std::span(&u.memory(), 1),
                                       std::span(&part, 1));
  setup.by = detail::carrier::channels;
  detail::exchange_plan plan(team, std::move(setup), {});
  std::optional<std::string> wrong;
  for (std::uint64_t tag = 1; tag <= 4; ++tag) {
    fill_cells(u, grid, tag);
    plan.start(std::array{std::size_t{0}}, {});
    plan.wait();
    if (!wrong)
      wrong = first_wrong_cell(u, equal_block(grid, u.extents()), tag, grid,
                               halo_algorithm::standard, 3);
  }
  return wrong;
}

TEST(OwnMemory, packed_with_streaming_stores_has_right_cells) {
  spmd([](team& team) {
    const auto no_fault = [](auto&) {};
    for (const auto& wrong : {wrong_after_streaming<double>(team, no_fault),
                              wrong_after_streaming<float>(team, no_fault),
                              wrong_after_streaming<std::uint8_t>(team, no_fault)})
      EXPECT_FALSE(wrong.has_value()) << *wrong;
  });
}

TEST(OwnMemory, wrong_packing_with_streaming_stores_is_found) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    const bool is_found = wrong_after_streaming<double>(team, [](auto& round) {
                            for (auto& pair : round)
                              if (pair.outgoing.exists())
                                pair.outgoing.parts[0].here.first += sizeof(double);
                          }).has_value();
    EXPECT_TRUE(team.allreduce_value<int>(is_found, reduction::max) == 1);
  });
}

TEST(OwnMemory, of_any_allocator_is_exchanged_in_every_mode) {
  spmd([](team& team) {
    const rank_grid grid(team);
    for (const auto mode : possible_modes(grid)) {
      std::vector<double> cells;
      std::vector<float, shared_allocator<float>> shared;
      expect_right_exchanges(3, view_of(cells, {24, 20, 22}, 2), grid, {.mode = mode});
      expect_right_exchanges(3, view_of(shared, {24, 20, 22}, 2), grid, {.mode = mode});
    }
  });
}

TEST(OwnMemory, of_shared_allocator_needs_no_messages_on_a_node) {
  spmd([](team& team) {
    const rank_grid grid(team);
    std::vector<double> cells;
    std::vector<double, shared_allocator<double>> shared;
    const testing::assumed_caches near(team, false);
    const halo_exchange packed(grid, {}, view_of(cells, {6, 6, 6}, 1));
    const halo_exchange direct(grid, {}, view_of(shared, {6, 6, 6}, 1));
    if (team.nodes().node_count() > 1) return;
    EXPECT_EQ(direct.moved().messages, 0u);
    EXPECT_EQ(packed.moved().messages > 0, !team.is_one_process() && team.size() > 1);
  });
}

// Whether the start of an exchange tells that memory was freed.
bool tells_freed_memory(halo_exchange& plan) {
  try {
    plan.start();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    EXPECT_NE(std::string(e.what()).find("the memory of the 2nd field was freed"),
              std::string::npos);
    return true;
  }
  plan.wait();
  return false;
}

TEST(OwnMemory, that_was_freed_is_refused_also_if_new_memory_lies_there) {
  spmd([](team& team) {
    const rank_grid grid(team);
    using vector = std::vector<double, shared_allocator<double>>;
    const field<double> first(grid, {6, 6, 6}, 1);
    for (const auto mode : possible_modes(grid)) {
      auto cells = std::make_unique<vector>();
      halo_exchange plan(grid, {.mode = mode}, first, view_of(*cells, {6, 6, 6}, 1));
      plan.exchange();
      vector moved = std::move(*cells);  // is the same memory
      plan.exchange();
      team.barrier();  // the neighbours have read the cells
      vector().swap(moved);
      vector at_the_same_address;
      view_of(at_the_same_address, {6, 6, 6}, 1);
      EXPECT_TRUE(tells_freed_memory(plan));
    }
  });
}

TEST(OwnMemory, of_a_field_that_was_destroyed_is_refused) {
  spmd([](team& team) {
    const rank_grid grid(team);
    const field<double> first(grid, {6, 6, 6}, 1);
    std::optional<field<double>> second(std::in_place, grid, std::array<std::size_t, 3>{6, 6, 6},
                                        1);
    halo_exchange plan(grid, {}, first, *second);
    const auto moved = std::make_unique<field<double>>(std::move(*second));
    second.reset();
    EXPECT_FALSE(tells_freed_memory(plan));
    team.barrier();
    *moved = field<double>(grid, {6, 6, 6}, 1);
    EXPECT_TRUE(tells_freed_memory(plan));
  });
}

TEST(SharedAllocator, containers_allocate_move_and_free_its_memory) {
  using allocator = shared_allocator<double>;
  static_assert(std::allocator_traits<allocator>::is_always_equal::value);
  static_assert(allocator() == shared_allocator<char>());
  std::vector<double, allocator> a(1000, 3.0);
  const auto* const address = reinterpret_cast<const std::byte*>(a.data());
  EXPECT_TRUE(detail::find_shareable(address).has_value());
  EXPECT_TRUE(detail::find_shareable(address + 7999).has_value());
  std::vector<double, allocator> b = std::move(a);
  EXPECT_EQ(reinterpret_cast<const std::byte*>(b.data()), address);
  auto c = b;
  EXPECT_EQ(c, b);
  std::swap(b, c);
  c.resize(100000, 4.0);  // moves to other memory
  EXPECT_EQ(c[999], 3.0);
  EXPECT_EQ(c[99999], 4.0);
  EXPECT_FALSE(detail::find_shareable(address).has_value());
  c = {};
  c.shrink_to_fit();
  const double other = 0;
  EXPECT_FALSE(detail::find_shareable(reinterpret_cast<const std::byte*>(&other)).has_value());
  EXPECT_THROW(static_cast<void>(allocator().allocate(std::size_t{1} << 61)), error);
}

}  // namespace
}  // namespace longshore
