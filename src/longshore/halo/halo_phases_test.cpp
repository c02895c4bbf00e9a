// Tests the times of the phases of exchanges. Simulated clocks tell to which phase each late_seconds
// belongs. Measured clocks can tell only that no time counts twice.
#include <longshore/exchange/device_twin_test.hpp>
#include <longshore/exchange/phase_clock.hpp>
#include <longshore/halo/halo_test.hpp>

#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <array>
#include <functional>

namespace longshore {
namespace {

using testing::spmd;

constexpr double late_seconds = 1;  // far longer than an exchange
constexpr std::array<std::size_t, 3> cells = {5, 4, 6};

struct slow_sum {
  team* ranks;
  void operator()(double& sum, double copy) const {
    ranks->charge_seconds(late_seconds);
    sum += copy;
  }
};

struct timed_exchanges {
  double pack, send, wait, unpack, all;
};

// Times the phases of some calls, and the calls as a whole.
timed_exchanges time_phases(team& team, const std::function<void()>& calls) {
  auto& clock = detail::phase_clock::of(team);
  clock.turn(true);
  const double began = team.now();
  calls();
  const double all = team.now() - began;
  const timed_exchanges timed{clock.seconds(0), clock.seconds(1), clock.seconds(2),
                              clock.seconds(3), all};
  clock.turn(false);
  return timed;
}

void expect_sum(team& team, const timed_exchanges& timed) {
  constexpr double rounding = 1e-9;
  const double sum = timed.pack + timed.send + timed.wait + timed.unpack;
  for (const double seconds : {timed.pack, timed.send, timed.wait, timed.unpack})
    EXPECT_GE(seconds, 0);
  EXPECT_EQ(sum > 0, timed.all > 0);
  EXPECT_LE(sum, timed.all + rounding);
  // Simulated clocks do not advance between two calls.
  if (team.costs() != nullptr) {
    EXPECT_GE(sum, timed.all - rounding);
  }
}

TEST(HaloPhases, each_moment_of_an_exchange_belongs_to_one_phase) {
  spmd([](team& team) {
    const rank_grid grid(team);
    const field<double> u(grid, cells, 1);
    for (const auto& [mode, algorithm] : testing::possible_pairs(grid)) {
      SCOPED_TRACE(testing::text_of(algorithm, mode));
      halo_exchange halos(grid, {.algorithm = algorithm, .mode = mode}, u);
      expect_sum(team, time_phases(team, [&] {
                   halos.exchange();
                   halos.start();
                   if (!halos.test()) halos.wait();
                 }));
    }
  });
}

TEST(HaloPhases, exchanges_count_only_while_they_are_timed) {
  spmd([](team& team) {
    const rank_grid grid(team);
    const field<double> u(grid, cells, 1), v(grid, cells, 1);
    halo_exchange first(grid, {}, u), second(grid, {}, v);
    auto& clock = detail::phase_clock::of(team);
    first.exchange();
    EXPECT_EQ(clock.exchanges(), 0U);
    clock.turn(true);
    first.exchange();
    first.start(), second.start();
    first.wait(), second.wait();
    EXPECT_EQ(clock.exchanges(), 3U);
    clock.turn(false);
    first.exchange();
    EXPECT_EQ(clock.exchanges(), 0U);
    for (std::size_t phase = 0; phase < clock.names.size(); ++phase)
      EXPECT_EQ(clock.seconds(phase), 0) << clock.names[phase];
  });
}

TEST(HaloPhases, a_late_rank_makes_its_neighbours_wait) {
  spmd([](team& team) {
    if (team.costs() == nullptr || team.size() == 1) return;
    const rank_grid grid(team, {.ranks = {1, 1, team.size()}});
    const field<double> u(grid, cells, 1);
    const int late = team.size() - 1;
    const bool is_neighbour = team.rank() == 0 || team.rank() == late - 1;
    for (const auto mode : testing::possible_modes(grid)) {
      SCOPED_TRACE(name_of(mode));
      halo_exchange halos(grid, {.mode = mode}, u);
      team.barrier();
      if (team.rank() == late) team.charge_seconds(late_seconds);
      const auto timed = time_phases(team, [&] { halos.exchange(); });
      EXPECT_EQ(timed.wait > late_seconds / 2, is_neighbour && team.rank() != late);
      EXPECT_LT(timed.pack + timed.send + timed.unpack, late_seconds / 2);
    }
  });
}

TEST(HaloPhases, work_between_start_and_wait_belongs_to_no_phase) {
  spmd([](team& team) {
    if (team.costs() == nullptr) return;
    const rank_grid grid(team);
    const field<double> u(grid, cells, 1);
    halo_exchange halos(grid, {}, u);
    team.barrier();
    const auto timed = time_phases(team, [&] {
      halos.start();
      team.charge_seconds(late_seconds);
      halos.wait();
    });
    EXPECT_LT(timed.pack + timed.send + timed.wait + timed.unpack, late_seconds / 2);
  });
}

TEST(HaloPhases, slow_sums_are_unpacking) {
  spmd([](team& team) {
    if (team.costs() == nullptr) return;
    const rank_grid grid(team);
    const field<double> u(grid, cells, 1);
    halo_exchange halos(grid, {.mode = halo_mode::channel}, u);
    const auto sum = combine_op::of<double>(slow_sum{&team});
    halos.accumulate(sum);  // makes the plan
    const auto timed = time_phases(team, [&] { halos.accumulate(sum); });
    EXPECT_GT(timed.unpack, late_seconds / 2);
    EXPECT_LT(timed.pack + timed.send, late_seconds / 2);
    expect_sum(team, timed);
  });
}

TEST(HaloPhases, channels_pack_and_neighbours_that_read_do_not) {
  spmd([](team& team) {
    if (team.costs() == nullptr || team.size() == 1) return;
    const rank_grid grid(team, {.ranks = {1, 1, team.size()}});
    const field<double> u(grid, cells, 1);
    for (const auto mode : {halo_mode::channel, halo_mode::direct}) {
      halo_exchange halos(grid, {.mode = mode}, u);
      const auto timed = time_phases(team, [&] { halos.exchange(); });
      const bool packs = halos.moved().messages > 0;
      EXPECT_EQ(timed.pack > 0, packs) << name_of(mode);
      EXPECT_GT(timed.unpack, 0) << name_of(mode);
    }
  });
}

// A field with a halo of 1 in memory of a device.
struct device_field {
  testing::device_twin<double> memory{(cells[0] + 2) * (cells[1] + 2) * (cells[2] + 2)};
  [[nodiscard]] field_view<double> view() const {
    constexpr std::ptrdiff_t row = cells[0] + 2, layer = row * (cells[1] + 2);
    return {memory.device() + 1 + row + layer, cells, {1, row, layer}, 1};
  }
};

TEST(HaloPhases, a_busy_device_delays_packing_or_unpacking_if_nothing_is_packed) {
  if (!testing::is_emulated()) return;
  const detail::device_installation installed(testing::emulated());
  spmd([](team& team) {
    if (team.costs() == nullptr) return;
    const rank_grid grid(team);
    const device_field u;
    const auto stream = testing::emulated().make_stream(0);
    halo_exchange halos(grid, {.mode = halo_mode::channel}, u.view());
    const auto timed = time_phases(team, [&] {
      testing::emulated().launch(stream.get(), [&] { team.charge_seconds(late_seconds); });
      halos.start(stream.get());
      halos.wait();
    });
    const bool packs = team.size() > 1;
    EXPECT_GT(packs ? timed.pack : timed.unpack, late_seconds / 2);
    EXPECT_LT(packs ? timed.unpack : timed.pack, late_seconds / 2);
  });
}

TEST(HaloPhases, of_devices_add_up) {
  const detail::device_installation installed(testing::tested_devices());
  spmd([](team& team) {
    const rank_grid grid(team);
    const device_field u;
    for (const auto mode : testing::possible_modes(grid)) {
      SCOPED_TRACE(name_of(mode));
      halo_exchange halos(grid, {.mode = mode}, u.view());
      expect_sum(team, time_phases(team, [&] {
                   halos.exchange();
                   halos.start();
                   if (!halos.test()) halos.wait();
                 }));
    }
  });
}

}  // namespace
}  // namespace longshore
