// Tests halos of fields in memory of emulated devices, against the same exchanges of host fields.
#include <longshore/exchange/device_twin_test.hpp>
#include <longshore/halo/halo_test.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

namespace longshore {
namespace {

using testing::device_twin;
using testing::emulated_devices;
using testing::expect_refusal;
using testing::possible_modes;
using testing::possible_pairs;
using testing::seed_of;
using testing::spmd;
using testing::synchronise;
using testing::text_of;

emulated_devices blind_devices(false);

// A field with a halo of 1 in both memories.
template <class T>
struct twin_field : device_twin<T> {
  explicit twin_field(const std::array<std::size_t, 3>& cells, const field_options& with = {},
                      detail::device_driver& devices = testing::tested_devices(), int device = 0)
      : device_twin<T>(devices, (cells[0] + 2) * (cells[1] + 2) * (cells[2] + 2), device),
        extents(cells),
        options(with) {}
  [[nodiscard]] field_view<T> view(T* first) const {
    const auto row = static_cast<std::ptrdiff_t>(extents[0] + 2);
    const auto layer = row * static_cast<std::ptrdiff_t>(extents[1] + 2);
    return {first + 1 + row + layer, extents, {1, row, layer}, 1, options};
  }
  [[nodiscard]] field_view<T> on_host() { return view(this->host()); }
  [[nodiscard]] field_view<T> on_device() const { return view(this->device()); }

  std::array<std::size_t, 3> extents;
  field_options options;
};

TEST(HaloDevice, every_mode_and_algorithm_moves_the_same_cells_as_on_the_host) {
  const detail::device_installation installed(testing::tested_devices());
  spmd([&](team& team) {
    const rank_grid grid(team);
    twin_field<double> u({5, 4, 6});
    twin_field<std::int8_t> v({5, 4, 6});
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const halo_options options{.algorithm = algorithm, .mode = mode};
      halo_exchange on_host(grid, options, u.on_host(), v.on_host());
      halo_exchange on_device(grid, options, u.on_device(), v.on_device());
      for (int step = 0; step < 3; ++step) {
        u.fill(seed_of(team, step)), v.fill(seed_of(team, step));
        on_host.exchange();
        on_device.start();
        if (step == 1)
          for (waiter waiting(team, "a halo"); !on_device.test();) waiting.pause();
        else
          on_device.wait();
        EXPECT_EQ(u.differences() + v.differences(), 0u) << text_of(algorithm, mode);
      }
    }
  });
}

TEST(HaloDevice, sums_and_parts_have_the_same_bits_as_on_the_host) {
  const detail::device_installation installed(testing::tested_devices());
  spmd([&](team& team) {
    const rank_grid grid(team, {.periodic = {true, false, true}});
    const field_options vertices{.shared = {1, 1, 1}};
    twin_field<double> u({5, 4, 6}, vertices);
    twin_field<std::int32_t> v({5, 4, 6}, vertices);
    for (const auto mode : possible_modes(grid)) {
      halo_exchange on_host(grid, {.mode = mode}, u.on_host(), v.on_host());
      halo_exchange on_device(grid, {.mode = mode}, u.on_device(), v.on_device());
      const auto expect_equal = [&](const char* what, const auto& operation) {
        u.fill(seed_of(team, 1)), v.fill(seed_of(team, 2));
        operation(on_host), operation(on_device);
        EXPECT_EQ(u.differences() + v.differences(), 0u) << what << " " << name_of(mode);
      };
      const std::array<combine_op, 2> two{op::max{}, op::bit_or{}};
      expect_equal("accumulate", [](auto& halos) { halos.accumulate(op::add{}); });
      expect_equal("two operations", [&](auto& halos) { halos.accumulate(two); });
      expect_equal("assemble", [](auto& halos) { halos.assemble(op::add{}); });
      expect_equal("part", [](auto& halos) { halos.exchange({.fields = {1}}); });
      expect_equal("sum of a part",
                   [](auto& halos) { halos.assemble(op::min{}, {.fields = {0}}); });
    }
  });
}

TEST(HaloDevice, stream_orders_exchanges_and_the_work_of_the_program) {
  if (!testing::is_emulated()) GTEST_SKIP();
  auto& devices = testing::emulated();
  const detail::device_installation installed(devices);
  spmd([&](team& team) {
    const rank_grid grid(team);
    twin_field<double> u({5, 4, 6});
    const auto stream = devices.make_stream(0);
    for (const auto mode : possible_modes(grid)) {
      halo_exchange on_host(grid, {.mode = mode}, u.on_host());
      std::optional<halo_exchange> on_device(std::in_place, grid, halo_options{.mode = mode},
                                             u.on_device());
      std::size_t differences = 0;
      for (int step = 0; step < 3; ++step) {
        u.fill_on(stream.get(), seed_of(team, step));
        on_host.exchange();
        on_device->start(stream.get());
        on_device->wait(stream.get());
        u.compare_on(stream.get(), differences);
      }
      on_device.reset();  // its work may still be queued
      synchronise(stream.get());
      EXPECT_EQ(differences, 0u) << name_of(mode);
      EXPECT_EQ(u.differences(), 0u) << name_of(mode);
      team.barrier();  // peers may still read
    }
  });
}

TEST(HaloDevice, plan_that_is_destroyed_in_flight_lets_its_launches_end) {
  if (!testing::is_emulated()) GTEST_SKIP();
  auto& devices = testing::emulated();
  const detail::device_installation installed(devices);
  spmd([&](team& team) {
    const rank_grid grid(team);
    twin_field<double> u({5, 4, 6});
    const auto stream = devices.make_stream(0);
    std::optional<halo_exchange> halos(std::in_place, grid,
                                       halo_options{.mode = halo_mode::channel}, u.on_device());
    halos->start(stream.get());
    halos.reset();
    synchronise(stream.get());  // throws if a launch has lost its buffer
    team.barrier();
  });
}

TEST(HaloDevice, direct_reads_are_one_launch_and_the_host_waits_for_no_work) {
  if (!testing::is_emulated()) GTEST_SKIP();
  auto& devices = testing::emulated();
  const detail::device_installation installed(devices);
  spmd([&](team& team) {
    if (team.nodes().node_count() > 1) return;
    const rank_grid grid(team, {.periodic = {false, false, false}});
    twin_field<double> u({5, 4, 6});
    const auto stream = devices.make_stream(0);
    halo_exchange halos(grid, {}, u.on_device());
    EXPECT_EQ(halos.transfers().read > 0, team.size() > 1);
    EXPECT_EQ(halos.transfers().channels, 0u);
    bool has_begun = false;
    devices.launch(stream.get(), [&] { has_begun = true; });
    team.barrier();
    const auto before = devices.launches();
    team.barrier();
    halos.start(stream.get());
    halos.wait(stream.get());
    // In a process of its own, the emulation begins after a while, for the other processes.
    EXPECT_FALSE(team.is_one_process() && has_begun);
    team.barrier();
    const int launching = team.is_one_process() ? team.size() : 1;
    EXPECT_EQ(devices.launches() - before,
              team.size() > 1 ? static_cast<std::size_t>(launching) : 0u);
    team.barrier();
    synchronise(stream.get());
    team.barrier();
  });
}

TEST(HaloDevice, wrong_places_and_streams_are_refused_on_all_ranks) {
  const detail::device_installation installed(blind_devices);
  spmd([&](team& team) {
    const rank_grid grid(team);
    const std::array<std::size_t, 3> cells{4, 4, 4};
    twin_field<double> u(cells, {}, blind_devices), v(cells, {}, blind_devices),
        far(cells, {}, blind_devices, 1);
    expect_refusal(errc::usage, {"rank 0", "memory of the host and of device 0", "a plan for each"},
                   [&] { halo_exchange(grid, {}, u.on_device(), v.on_host()); });
    expect_refusal(errc::usage, {"rank 0", "of device 0", "of device 1", "one device"},
                   [&] { halo_exchange(grid, {}, far.on_device(), u.on_device()); });
    if (team.size() > 1)
      expect_refusal(errc::usage, {"memory of the host on rank 1", "a plan for each"}, [&] {
        halo_exchange(grid, {}, team.rank() == 1 ? u.on_host() : u.on_device());
      });
    halo_exchange on_host(grid, {}, u.on_host()), on_device(grid, {}, u.on_device());
    const auto stream = blind_devices.make_stream(0), other = blind_devices.make_stream(1);
    expect_refusal(errc::usage, {"got a stream", "without a stream"},
                   [&] { on_host.start(stream.get()); });
    expect_refusal(errc::usage, {"device 0, and the stream belongs to device 1"},
                   [&] { on_device.start(other.get()); });
    expect_refusal(errc::unsupported, {"device memory", "add, min, max"}, [&] {
      on_device.accumulate(combine_op::of<double>([](double& a, double b) { a -= b; }));
    });
  });
}

TEST(HaloDevice, too_little_memory_for_the_messages_of_one_rank_is_an_error_of_all) {
  if (!testing::is_emulated()) GTEST_SKIP();
  const detail::device_installation installed(testing::emulated());
  spmd([](team& team) {
    if (team.transport_name() == "simulated") return;  // its ranks are one thread
    const rank_grid grid(team);
    twin_field<double> u({5, 4, 3});
    for (const auto mode : possible_modes(grid)) {
      // Where all cells are read or copied, a plan has no messages.
      if (mode == halo_mode::direct || team.size() == 1) continue;
      emulated_devices::is_full = team.rank() == team.size() - 1;
      expect_refusal(errc::out_of_memory,
                     {"rank " + std::to_string(team.size() - 1), "has no memory"},
                     [&] { halo_exchange(grid, {.mode = mode}, u.on_device()); });
      emulated_devices::is_full = false;
      halo_exchange on_host(grid, {.mode = mode}, u.on_host());
      halo_exchange on_device(grid, {.mode = mode}, u.on_device());
      u.fill(seed_of(team, 1));
      on_host.exchange(), on_device.exchange();
      EXPECT_EQ(u.differences(), 0u) << name_of(mode);
    }
  });
}

TEST(HaloDevice, devices_that_cannot_see_each_other_exchange_packed_messages_only) {
  const detail::device_installation installed(blind_devices);
  spmd([&](team& team) {
    const rank_grid grid(team);
    twin_field<double> u({4, 4, 4}, {}, blind_devices, team.rank());
    if (team.is_one_process() && team.nodes().node_count() < team.size()) {
      expect_refusal(errc::unsupported, {"of rank 0 cannot read memory of device", "channel"},
                     [&] { halo_exchange(grid, {}, u.on_device()); });
    } else {  // `direct` packs messages between processes
      halo_exchange on_host(grid, {}, u.on_host()), on_device(grid, {}, u.on_device());
      EXPECT_EQ(on_device.transfers().read, 0u);
      u.fill(seed_of(team, 2));
      on_host.exchange(), on_device.exchange();
      EXPECT_EQ(u.differences(), 0u);
    }
    halo_exchange on_host(grid, {.mode = halo_mode::channel}, u.on_host());
    halo_exchange on_device(grid, {.mode = halo_mode::channel}, u.on_device());
    u.fill(seed_of(team, 1));
    blind_devices.use_device(team.rank());
    on_device.start(nullptr);
    blind_devices.use_device(0);  // the stream stays that of the device that was chosen at start()
    on_device.wait();
    on_host.exchange();
    EXPECT_EQ(u.differences(), 0u);
  });
}

}  // namespace
}  // namespace longshore
