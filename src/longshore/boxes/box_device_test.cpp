// Tests boxes of fields in memory of emulated devices, against the same exchanges of host fields.
#include <longshore/boxes/box_copy.hpp>
#include <longshore/boxes/box_exchange.hpp>
#include <longshore/exchange/device_twin_test.hpp>

#include <longshore/transport/spmd_test.hpp>

namespace longshore {
namespace {

using testing::device_twin;
using testing::seed_of;
using testing::spmd;

// A field of all boxes of a rank in both memories, in one array, with a halo of 1.
template <class T>
struct twin_boxes {
  twin_boxes(const box_layout& layout, const std::array<int, 3>& shared_layers = {})
      : shared(shared_layers) {
    std::size_t cells = 0;
    for (const auto& box : layout.mine()) {
      auto& extents = boxes.emplace_back();
      for (int d = 0; d < 3; ++d) extents[d] = static_cast<std::size_t>(box.cells[d] + shared[d]);
      cells += (extents[0] + 2) * (extents[1] + 2) * (extents[2] + 2);
    }
    cells_.emplace(cells);
  }
  [[nodiscard]] box_field_view<T> view(T* base) const {
    std::vector<field_view<T>> views;
    for (const auto& extents : boxes) {
      const auto row = static_cast<std::ptrdiff_t>(extents[0] + 2);
      const auto layer = row * static_cast<std::ptrdiff_t>(extents[1] + 2);
      views.emplace_back(base + 1 + row + layer, extents, std::array{std::ptrdiff_t{1}, row, layer},
                         1, field_options{.shared = shared});
      base += layer * static_cast<std::ptrdiff_t>(extents[2] + 2);
    }
    return {views, 1, shared};
  }
  [[nodiscard]] box_field_view<T> on_host() { return view(cells_->host()); }
  [[nodiscard]] box_field_view<T> on_device() const { return view(cells_->device()); }
  device_twin<T>* operator->() { return &*cells_; }

  std::array<int, 3> shared;
  std::vector<std::array<std::size_t, 3>> boxes;

 private:
  std::optional<device_twin<T>> cells_;
};

// Slabs along `axis`, dealt to the ranks in turn. With several ranks, the last has none.
std::vector<cell_box> slabs(const team& team, int axis, std::int64_t cells) {
  std::vector<cell_box> mine;
  const int used = std::max(1, team.size() - 1);
  for (int i = 0; i < 12 / cells; ++i) {
    cell_box box{{0, 0, 0}, {12, 12, 12}};
    box.first[axis] = i * cells;
    box.cells[axis] = cells;
    if (i % used == team.rank()) mine.push_back(box);
  }
  return mine;
}
const cell_box whole{{0, 0, 0}, {12, 12, 12}};

TEST(BoxDevice, updates_sums_and_parts_have_the_same_bits_as_on_the_host) {
  const detail::device_installation installed(testing::tested_devices());
  spmd([](team& team) {
    const box_layout layout(team, slabs(team, 1, 3),
                            {.domain = whole, .periodic = {true, true, false}});
    for (const auto mode : values_of<box_mode>()) {
      twin_boxes<double> u(layout), corners(layout, {1, 1, 1});
      box_exchange on_host(layout, {.mode = mode}, u.on_host(), corners.on_host());
      box_exchange on_device(layout, {.mode = mode}, u.on_device(), corners.on_device());
      const auto expect_equal = [&](const char* what, const auto& operation) {
        u->fill(seed_of(team, 1)), corners->fill(seed_of(team, 2));
        operation(on_host), operation(on_device);
        EXPECT_EQ(u->differences() + corners->differences(), 0u) << what << " " << name_of(mode);
      };
      expect_equal("update", [](auto& halos) { halos.update(); });
      expect_equal("accumulate", [](auto& halos) { halos.accumulate(op::add{}); });
      expect_equal("assemble", [](auto& halos) { halos.assemble(op::add{}); });
      expect_equal("part", [](auto& halos) { halos.assemble(op::min{}, {.fields = {1}}); });
    }
  });
}

TEST(BoxDevice, fields_go_to_another_decomposition_on_a_stream) {
  if (!testing::is_emulated()) GTEST_SKIP();
  auto& devices = testing::emulated();
  const detail::device_installation installed(devices);
  spmd([&](team& team) {
    const box_layout from(team, slabs(team, 0, 4), {.domain = whole});
    const box_layout to(team, slabs(team, 2, 2), {.domain = whole});
    for (const auto mode : values_of<box_mode>()) {
      twin_boxes<float> u(from), v(to);
      box_copy on_host(from, u.on_host(), to, v.on_host(), {.mode = mode});
      box_copy on_device(from, u.on_device(), to, v.on_device(), {.mode = mode});
      const auto stream = devices.make_stream(0);
      std::size_t differences = 0;
      v->fill(seed_of(team, 1));
      for (int step = 2; step < 5; ++step) {
        u->fill_on(stream.get(), seed_of(team, step));
        on_host.copy();
        on_device.start(stream.get());
        on_device.wait(stream.get());
        v->compare_on(stream.get(), differences);
      }
      testing::synchronise(stream.get());
      EXPECT_EQ(differences + v->differences(), 0u) << name_of(mode);
      team.barrier();
    }
  });
}

}  // namespace
}  // namespace longshore
