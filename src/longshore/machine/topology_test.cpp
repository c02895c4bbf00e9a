// Topologies of this machine and of descriptions: levels, nesting, restriction.
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/topology.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

namespace longshore {
namespace {

using levels = std::vector<hardware_level>;

bool has_hwloc() { return topology_of_this_machine().why_cores_only().empty(); }

void expect_nested(const topology& machine) {
  for (std::size_t l = 1; l < machine.levels().size(); ++l) {
    const auto& outer = machine.levels()[l - 1];
    const auto& inner = machine.levels()[l];
    std::vector<int> outer_of(static_cast<std::size_t>(inner.count), -1);
    for (std::size_t i = 0; i < machine.cpus().size(); ++i) {
      int& object = outer_of[static_cast<std::size_t>(inner.object_of[i])];
      EXPECT_TRUE(object < 0 || object == outer.object_of[i]) << inner.name;
      object = outer.object_of[i];
    }
    EXPECT_EQ(std::count(outer_of.begin(), outer_of.end(), -1), 0) << "every object has a CPU";
  }
}

TEST(Topology, of_this_machine_has_every_allowed_cpu) {
  const auto machine = topology_of_this_machine();
  expect_nested(machine);
  ASSERT_FALSE(machine.levels().empty());
  for (const int cpu : allowed_cpus()) {
    EXPECT_NE(std::find(machine.cpus().begin(), machine.cpus().end(), cpu), machine.cpus().end())
        << cpu;
    EXPECT_GE(machine.object_of(0, cpu), 0);
  }
  EXPECT_EQ(machine.object_of(0, 100000), -1);
  EXPECT_FALSE(machine.description().empty());
}

TEST(Topology, ignores_the_binding_of_the_thread_and_can_be_restricted) {
  const auto machine = topology_of_this_machine();
  const int first = allowed_cpus().front();
  std::string seen;
  std::thread([&] {
    const pinned binding(first);
    seen = topology_of_this_machine().description();
  }).join();
  EXPECT_EQ(seen, machine.description());
  const auto single = machine.restricted_to(std::vector{first});
  ASSERT_EQ(single.cpus().size(), 1u);
  for (const auto& level : single.levels()) EXPECT_EQ(level.count, 1);
  EXPECT_EQ(machine.restricted_to(std::vector{100000}).cpus().size(), machine.cpus().size());
}

TEST(Topology, of_a_description_has_the_described_levels) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  const struct {
    const char* text;
    levels expected;
    int cpus;
  } cases[] = {{"pack:2 numa:4 l3:4 core:2 pu:1",
                {{"socket", 2}, {"numa", 4}, {"l3", 4}, {"core", 2}, {"hwthread", 1}},
                64},
               {"pack:2 [numa] l3:2 core:4 pu:1",
                {{"socket", 2}, {"numa", 1}, {"l3", 2}, {"core", 4}, {"hwthread", 1}},
                16},
               {"pack:1 l3:1 core:8 pu:2",
                {{"socket", 1}, {"numa", 1}, {"l3", 1}, {"core", 8}, {"hwthread", 2}},
                16},
               {"numa:1 pack:2 core:3 pu:1",
                {{"socket", 2}, {"numa", 1}, {"l3", 1}, {"core", 3}, {"hwthread", 1}},
                6},
               {"pack:1 l3:1 numa:4 core:4 pu:1",
                {{"socket", 1}, {"numa", 4}, {"l3", 1}, {"core", 4}, {"hwthread", 1}},
                16},
               {"pack:1 l3:1 l2:4 core:2 pu:1",
                {{"socket", 1}, {"numa", 1}, {"l3", 1}, {"l2", 4}, {"core", 2}, {"hwthread", 1}},
                8},
               {"pack:1 l3:2 l2:1 core:2 pu:1",
                {{"socket", 1}, {"numa", 1}, {"l3", 2}, {"core", 2}, {"hwthread", 1}},
                4},
               {"pack:1 l3:2 l2:2 core:1 pu:1",
                {{"socket", 1}, {"numa", 1}, {"l3", 2}, {"core", 2}, {"hwthread", 1}},
                4}};
  for (const auto& test : cases) {
    const auto machine = topology_from(test.text);
    expect_nested(machine);
    EXPECT_EQ(static_cast<int>(machine.cpus().size()), test.cpus) << test.text;
    ASSERT_TRUE(machine.even_levels().has_value()) << test.text;
    EXPECT_EQ(*machine.even_levels(), test.expected)
        << test.text << " read as " << machine.description();
    EXPECT_EQ(topology_from(machine.description()).even_levels(), machine.even_levels())
        << machine.description();
  }
}

TEST(Topology, finds_the_object_that_holds_several_cpus) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  const auto machine = topology_from("pack:2 numa:2 l3:2 core:2 pu:2");
  EXPECT_EQ(machine.innermost_level_holding(std::vector{0}), "hwthread");
  EXPECT_EQ(machine.innermost_level_holding(std::vector{0, 1}), "core");
  EXPECT_EQ(machine.innermost_level_holding(std::vector{0, 2}), "l3");
  EXPECT_EQ(machine.innermost_level_holding(std::vector{0, 4}), "numa");
  EXPECT_EQ(machine.innermost_level_holding(std::vector{0, 8}), "socket");
  EXPECT_EQ(machine.innermost_level_holding(std::vector{0, 16}), "");
  EXPECT_EQ(machine.object_holding(0, std::vector{16, 31}), 1);
  EXPECT_EQ(machine.object_holding(1, std::vector{16, 31}), -1);
  EXPECT_EQ(machine.object_holding(1, std::vector<int>{}), -1);
}

TEST(Topology, without_even_levels_is_described_as_uneven) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  const auto part =
      topology_from("pack:2 numa:1 l3:2 core:2 pu:1").restricted_to(std::vector{0, 1, 2, 4, 5});
  EXPECT_FALSE(part.even_levels().has_value());
  EXPECT_EQ(part.description(), "uneven: 2 socket, 2 numa, 3 l3, 5 core, 5 hwthread");
  expect_nested(part);
  const auto half =
      topology_from("pack:2 numa:1 l3:2 core:2 pu:1").restricted_to(std::vector{0, 2, 4, 6});
  EXPECT_EQ(half.description(), "pack:2 numa:1 l3:2 core:1 pu:1");
}

TEST(Topology, has_one_object_at_a_level_without_labels) {
  const std::vector<topology::labelled_level> none{{"socket", {-1, -1, -1}}, {"core", {7, 8, 7}}};
  const topology machine({4, 5, 6}, none);
  EXPECT_EQ(machine.levels()[0].count, 1);
  EXPECT_EQ(machine.levels()[1].count, 2);
  EXPECT_EQ(machine.object_of(1, 6), machine.object_of(1, 4));
  EXPECT_FALSE(machine.even_levels().has_value());  // the cores have two CPUs and one CPU
}

TEST(Topology, is_refused_with_the_text_if_it_cannot_be_read) {
  if (!has_hwloc()) GTEST_SKIP() << "no hwloc";
  for (const char* wrong : {"", "pack:2 spoon:3", "nothing.xml"}) {
    try {
      static_cast<void>(topology_from(wrong));
      ADD_FAILURE() << wrong;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_NE(std::string(e.what()).find(wrong), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace longshore
