// Tests ghosts of fields in memory of emulated devices, against the same exchanges of host fields.
#include <longshore/exchange/device_twin_test.hpp>
#include <longshore/ghost/ghost_test.hpp>

#include <longshore/transport/spmd_test.hpp>

#include <numeric>

namespace longshore {
namespace {

using testing::device_twin;
using testing::ghost_case;
using testing::graph_of;
using testing::seed_of;
using testing::spmd;

// A field of a rank in both memories: contiguous, every third element, or at places in reverse.
enum class form { dense, strided, placed };
template <class T>
struct twin_vector : device_twin<T> {
  twin_vector(const ghost_graph& graph, form chosen)
      : device_twin<T>(3 * (graph.owned() + graph.ghosts())),
        owned(static_cast<std::ptrdiff_t>(graph.owned())),
        places(graph.owned() + graph.ghosts()),
        shape(chosen) {
    std::iota(places.rbegin(), places.rend(), 0);
  }
  [[nodiscard]] ghost_field<T> view(T* base) const {
    if (shape == form::placed)
      return {base, std::span(places).first(static_cast<std::size_t>(owned)),
              std::span(places).subspan(static_cast<std::size_t>(owned))};
    const std::ptrdiff_t step = shape == form::strided ? 3 : 1;
    return {base, base + step * owned, step * static_cast<std::ptrdiff_t>(sizeof(T))};
  }
  [[nodiscard]] ghost_field<T> on_host() { return view(this->host()); }
  [[nodiscard]] ghost_field<T> on_device() const { return view(this->device()); }

  std::ptrdiff_t owned;
  std::vector<int> places;
  form shape;
};

TEST(GhostDevice, every_strategy_has_the_same_bits_as_on_the_host) {
  const detail::device_installation installed(testing::tested_devices());
  spmd([](team& team) {
    for (const auto& c : testing::ghost_cases(team.size())) {
      const auto graph = graph_of(team, c);
      for (const auto strategy : testing::possible_strategies(team))
        for (const auto shape : {form::dense, form::strided, form::placed}) {
          if (shape != form::dense && c.name != "random" && c.name != "empty ranks") continue;
          twin_vector<double> x(graph, shape);
          twin_vector<std::int16_t> y(graph, shape);
          ghost_exchange on_host(graph, {.strategy = strategy}, x.on_host(), y.on_host());
          ghost_exchange on_device(graph, {.strategy = strategy}, x.on_device(), y.on_device());
          const auto expect_equal = [&](const char* what, const auto& operation) {
            x.fill(seed_of(team, 1)), y.fill(seed_of(team, 2));
            operation(on_host), operation(on_device);
            EXPECT_EQ(x.differences() + y.differences(), 0u)
                << what << " " << name_of(strategy) << " " << c.name;
          };
          expect_equal("update", [](auto& plan) { plan.update(); });
          expect_equal("accumulate", [](auto& plan) { plan.accumulate(op::add{}); });
          expect_equal("assemble", [](auto& plan) { plan.assemble(op::max{}); });
        }
    }
  });
}

// The vectors do not depend on each other, so the program need not order its streams. The plan does,
// because both exchanges use its buffers.
TEST(GhostDevice, vectors_of_one_plan_follow_each_other_on_different_streams) {
  if (!testing::is_emulated()) GTEST_SKIP();
  auto& devices = testing::emulated();
  const detail::device_installation installed(devices);
  spmd([&](team& team) {
    const auto cases = testing::ghost_cases(team.size());
    const auto graph = graph_of(team, cases[0]);
    for (const auto strategy : testing::possible_strategies(team)) {
      twin_vector<double> x(graph, form::dense), y(graph, form::dense);
      ghost_exchange on_host(graph, {.strategy = strategy}, x.on_host());
      ghost_exchange on_device(graph, {.strategy = strategy}, x.on_device());
      const auto first = devices.make_stream(0), second = devices.make_stream(0);
      for (std::size_t step = 0; step < 3; ++step) {
        std::size_t differences = 0;
        x.fill_on(first.get(), seed_of(team, step)),
            y.fill_on(second.get(), seed_of(team, 7 + step));
        for (auto* vector : {&x, &y}) {
          on_host.update(vector->on_host());
          on_device.rebind(vector->on_device());
          on_device.start_update((vector == &x ? first : second).get());
          on_device.wait((vector == &x ? first : second).get());
        }
        x.compare_on(first.get(), differences), y.compare_on(second.get(), differences);
        testing::synchronise(second.get()), testing::synchronise(first.get());
        EXPECT_EQ(differences, 0u) << name_of(strategy);
        team.barrier();
      }
      // A wait without a stream returns when the work is done; one with another stream orders it.
      x.fill_on(first.get(), seed_of(team, 20));
      on_host.update(x.on_host());
      on_device.rebind(x.on_device());
      on_device.start_update(first.get());
      on_device.wait();
      EXPECT_EQ(x.differences(), 0u) << name_of(strategy);
      x.fill(seed_of(team, 21));
      on_host.update();
      on_device.start_update();
      on_device.wait(second.get());
      std::size_t differences = 0;
      x.compare_on(second.get(), differences);
      testing::synchronise(second.get());
      EXPECT_EQ(differences, 0u) << name_of(strategy);
      team.barrier();
    }
  });
}

TEST(GhostDevice, plan_is_not_bound_to_memory_of_another_place) {
  const detail::device_installation installed(testing::tested_devices());
  spmd([](team& team) {
    const auto cases = testing::ghost_cases(team.size());
    const auto graph = graph_of(team, cases[0]);
    twin_vector<double> x(graph, form::dense);
    ghost_exchange on_host(graph, {}, x.on_host()), on_device(graph, {}, x.on_device());
    testing::expect_refusal(errc::usage, {"another place", "for each device"},
                            [&] { on_host.rebind(x.on_device()); });
    testing::expect_refusal(errc::usage, {"another place", "for each device"},
                            [&] { on_device.rebind(x.on_host()); });
    x.fill(seed_of(team, 1));
    on_host.update(), on_device.update();
    EXPECT_EQ(x.differences(), 0u);
  });
}

TEST(GhostDevice, some_ranks_alone_bind_the_plan_to_other_memory) {
  const detail::device_installation installed(testing::tested_devices());
  spmd([](team& team) {
    const auto cases = testing::ghost_cases(team.size());
    const auto graph = graph_of(team, cases[0]);
    twin_vector<double> x(graph, form::dense), y(graph, form::dense);
    ghost_exchange on_host(graph, {}, x.on_host()), on_device(graph, {}, x.on_device());
    for (const int bound : {0, 1, 2}) {
      if (bound > 0 && team.rank() % 2 == bound - 1)
        on_host.rebind(y.on_host()), on_device.rebind(y.on_device());
      x.fill(seed_of(team, 1)), y.fill(seed_of(team, 2));
      team.barrier();  // a peer that reads x or y sees the new values
      on_host.assemble(op::add{}), on_device.assemble(op::add{});
      EXPECT_EQ(x.differences() + y.differences(), 0u) << bound;
    }
  });
}

}  // namespace
}  // namespace longshore
