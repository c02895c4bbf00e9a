// Tests that cell_check.hpp detects faults in the messages of a plan, or in a field.
#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>
#include <longshore/halo/detail/grid_handshake.hpp>
#include <longshore/halo/detail/neighbour_fields.hpp>
#include <longshore/halo/detail/round_program.hpp>
#include <longshore/halo/halo_exchange.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>

namespace longshore {
namespace {

using testing::spmd;

constexpr int halo = 2;

// In mode direct, a fault that makes a rank read its neighbour's halo is a race, which the thread
// sanitizer would report.
#ifdef __SANITIZE_THREAD__
constexpr bool may_race = false;
#else
constexpr bool may_race = true;
#endif

// Exchanges a field by the rounds of a plan.
void exchange(const rank_grid& grid, halo_mode mode, std::vector<detail::halo_round> rounds,
              const field<double>& u) {
  const detail::exchanged_field part{u.memory(), halo};
  detail::exchange_plan plan(
      grid.ranks(),
      detail::setup_of_rounds(grid, mode, rounds, std::span(&u.memory(), 1), std::span(&part, 1)),
      {});
  plan.start(std::array{std::size_t{0}}, {});
  plan.wait();
}

std::vector<detail::halo_round> rounds_of(halo_algorithm algorithm, const rank_grid& grid,
                                          const field<double>& u) {
  const detail::exchanged_field part{u.memory(), halo};
  const auto known = detail::learn_fields_of_neighbours(grid.ranks(), *detail::messenger_of(grid),
                                                        std::span(&part, 1));
  return detail::plan_rounds(algorithm, {grid, std::span(&part, 1), known.of_rank});
}

// Returns a message as the rank at its other end sees it.
detail::halo_message seen_from_there(detail::halo_message message) {
  for (auto& part : message.parts) std::swap(part.here, part.there);
  return message;
}

// Puts a fault into a round, and the same fault into what the receivers know of their senders.
void put(const std::function<void(detail::halo_round&)>& fault, detail::halo_round& round) {
  auto senders = round;
  for (std::size_t i = 0; i < round.size(); ++i) {
    senders[i].outgoing = seen_from_there(round[i].incoming);
    senders[i].incoming = seen_from_there(round[i].outgoing);
  }
  fault(senders);
  fault(round);
  for (std::size_t i = 0; i < round.size(); ++i)
    for (std::size_t p = 0; p < round[i].incoming.parts.size(); ++p)
      round[i].incoming.parts[p].there = senders[i].outgoing.parts[p].here;
}

// Exchanges a field with a fault in one round of the plan: in modes channel and direct and, over
// MPI, in waitall and subarray. Returns whether in each mode some rank found a wrong cell.
bool detects(team& team, halo_algorithm algorithm,
             const std::function<void(detail::halo_round&)>& put_fault,
             std::size_t faulty_round = 0) {
  const rank_grid grid(team);
  bool is_found = true;
  for (const auto mode :
       {halo_mode::channel, halo_mode::direct, halo_mode::waitall, halo_mode::subarray}) {
    if ((is_mpi_mode(mode) && team.transport_name() != "mpi") ||
        (mode == halo_mode::direct && !may_race))
      continue;
    field<double> u(grid, {5, 4, 6}, halo);
    auto rounds = rounds_of(algorithm, grid, u);
    put(put_fault, rounds[faulty_round]);
    fill_cells(u, grid, 3);
    exchange(grid, mode, std::move(rounds), u);
    const bool is_wrong =
        first_wrong_cell(u, equal_block(grid, u.extents()), 3, grid, algorithm, halo).has_value();
    is_found = is_found && team.allreduce_value<int>(is_wrong, reduction::max) == 1;
  }
  return is_found;
}

TEST(HaloFault, a_correct_plan_has_no_wrong_cell) {
  spmd([](team& team) {
    EXPECT_FALSE(detects(team, halo_algorithm::standard, [](auto&) {}));
    EXPECT_FALSE(detects(team, halo_algorithm::faces, [](auto&) {}));
    EXPECT_FALSE(detects(team, halo_algorithm::staged, [](auto&) {}));
    EXPECT_FALSE(detects(team, halo_algorithm::hybrid, [](auto&) {}));
  });
}

TEST(HaloFault, wrong_packing_is_found_in_every_direction) {
  spmd([](team& team) {
    for (std::size_t pair = 0; pair < 26; ++pair) {
      EXPECT_TRUE(detects(team, halo_algorithm::standard,
                          [&](auto& round) {
                            // packs from the next cell
                            round[pair].outgoing.parts[0].here.first += sizeof(double);
                          }))
          << "pair " << pair;
      EXPECT_TRUE(detects(team, halo_algorithm::standard,
                          [&](auto& round) {
                            auto& part = round[pair].outgoing.parts[0].here;
                            for (int d = 0; d < 3; ++d)
                              if (part.extents[d] > 1) {
                                // packs with a wrong stride
                                part.strides[d] += sizeof(double);
                                return;
                              }
                          }))
          << "pair " << pair;
    }
  });
}

TEST(HaloFault, wrong_packing_is_found_in_every_stage) {
  spmd([](team& team) {
    for (std::size_t stage = 0; stage < 3; ++stage)
      for (std::size_t pair = 0; pair < 2; ++pair)
        EXPECT_TRUE(detects(
            team, halo_algorithm::staged,
            [&](auto& round) { round[pair].outgoing.parts[0].here.first -= sizeof(double); },
            stage))
            << "stage " << stage << " pair " << pair;
  });
}

TEST(HaloFault, stages_in_another_order_are_found) {
  spmd([](team& team) {
    const rank_grid grid(team);
    field<double> u(grid, {5, 4, 6}, halo);
    auto rounds = rounds_of(halo_algorithm::staged, grid, u);
    std::swap(rounds[0], rounds[2]);
    fill_cells(u, grid, 3);
    exchange(grid, halo_mode::channel, std::move(rounds), u);
    EXPECT_TRUE(
        first_wrong_cell(u, equal_block(grid, u.extents()), 3, grid, halo_algorithm::staged, halo)
            .has_value());
  });
}

TEST(HaloFault, wrong_addresses_are_found_in_every_direction) {
  spmd([](team& team) {
    for (std::size_t pair = 0; pair < 26; ++pair)
      EXPECT_TRUE(detects(team, halo_algorithm::standard,
                          [&](auto& round) {
                            // Unpacks to the cells of another message of equal size.
                            for (std::size_t other = 0; other < round.size(); ++other)
                              if (other != pair && round[other].incoming.parts[0].here.extents ==
                                                       round[pair].incoming.parts[0].here.extents)
                                return void(round[pair].incoming.parts[0].here.first =
                                                round[other].incoming.parts[0].here.first);
                            ADD_FAILURE() << "no other message of this size";
                          }))
          << "pair " << pair;
  });
}

TEST(HaloFault, wrong_order_is_found) {
  spmd([](team& team) {
    EXPECT_TRUE(detects(team, halo_algorithm::faces, [](auto& round) {
      std::swap(round[0].outgoing.parts, round[1].outgoing.parts);
    }));
    // The cells of one message in another order: y first.
    EXPECT_TRUE(detects(team, halo_algorithm::faces, [](auto& round) {
      auto& part = round[0].outgoing.parts[0].here;
      auto& target = round[0].incoming.parts[0].here;
      std::swap(part.strides[0], part.strides[1]);
      std::swap(part.extents[0], part.extents[1]);
      part.extents = target.extents;
    }));
  });
}

TEST(HaloFault, a_missing_message_is_found) {
  spmd([](team& team) {
    for (std::size_t pair = 0; pair < 26; ++pair)
      EXPECT_TRUE(detects(team, halo_algorithm::standard,
                          [&](auto& round) {
                            round[pair].outgoing = {};
                            round[pair].incoming = {};
                          }))
          << "pair " << pair;
  });
}

TEST(HaloFault, a_message_of_the_previous_exchange_is_found) {
  spmd([](team& team) {
    const rank_grid grid(team);
    field<double> u(grid, {4, 4, 4}, 1);
    halo_exchange halos(grid, {}, u);
    const auto block = equal_block(grid, u.extents());
    fill_cells(u, block, 1);
    halos.exchange();
    field<double> stale(grid, {4, 4, 4}, 1);
    fill_cells(stale, block, 2);
    for (int z = 0; z < 4; ++z)
      for (int y = 0; y < 4; ++y)
        stale(z, y, -1) = u(z, y, -1);  // one face of the previous exchange
    EXPECT_TRUE(first_wrong_cell(stale, block, 2, grid, halo_algorithm::faces, 1).has_value());
  });
}

TEST(HaloFault, one_wrong_cell_anywhere_is_found) {
  spmd([](team& team) {
    const rank_grid grid(team, {.periodic = {true, false, true}});
    const std::array<std::size_t, 3> extents{3, 3, 3};
    const auto block = equal_block(grid, extents);
    for (const auto algorithm : {halo_algorithm::standard, halo_algorithm::faces}) {
      field<float> u(grid, extents, halo);
      // The outer halo stays untouched.
      halo_exchange halos(grid, {.width = 1, .algorithm = algorithm}, u);
      fill_cells(u, block, 9);
      halos.exchange();
      ASSERT_FALSE(first_wrong_cell(u, block, 9, grid, algorithm, 1).has_value());
      int cells = 0;
      for (int z = -halo; z < 3 + halo; ++z)
        for (int y = -halo; y < 3 + halo; ++y)
          for (int x = -halo; x < 3 + halo; ++x, ++cells) {
            const float right = u(z, y, x);
            u(z, y, x) = right + 1;
            const auto wrong = first_wrong_cell(u, block, 9, grid, algorithm, 1);
            ASSERT_TRUE(wrong.has_value());
            ASSERT_NE(wrong->find(fmt::format("(z {}, y {}, x {})", z, y, x)), std::string::npos)
                << *wrong;
            u(z, y, x) = right;
          }
      EXPECT_EQ(cells, 343);
    }
  });
}

}  // namespace
}  // namespace longshore
