// Accepted and refused options of the command placement, and its output.
#include <longshore/core/error.hpp>
#include <longshore/machine/topology.hpp>

#include "commands/commands.hpp"
#include "commands/placement_options.hpp"
#include "facts/json.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>

namespace longshore::bench {
namespace {

using words = std::vector<const char*>;

std::string refusal_of_plan(const words& given) {
  try {
    static_cast<void>(parse_placement(given));
  } catch (const error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos)
        << "more than one line: " << e.what();
    return e.what();
  }
  return "(accepted)";
}

TEST(PlacementCommand, refuses_in_one_line_that_names_the_allowed_values) {
  const struct {
    words given;
    std::vector<const char*> expected_words;
  } cases[] = {
      {{}, {"the machine is missing", "--levels", "--topology"}},
      {{"--levels", "node:27,sockets:2"}, {"'sockets'", "socket", "did you mean"}},
      {{"--levels", "node:27,node:2"}, {"node", "twice"}},
      {{"--levels", "core:2,node:27"}, {"core stands before node"}},
      {{"--levels", "node"}, {"'node'", "name:number"}},
      {{"--levels", "node:0"}, {"'0'", "from 1"}},
      {{"--levels", "node:2", "--nodes", "2"}, {"--nodes"}},
      {{"--levels", "node:2", "--levels", "node:3"}, {"2 times"}},
      {{"--levels", "node:8", "--domain", "64,64"}, {"--domain", "64,64", "X,Y,Z"}},
      {{"--levels", "node:8", "--type", "int"}, {"'int'", "float, double"}},
      {{"--levels", "node:8", "--periodic", "1,2,1"}, {"--periodic", "'2'"}},
      {{"--levels", "node:8", "--node", "2,2,1"}, {"node 2x2x1 makes 4, the machine has 8"}},
      {{"--levels", "node:8,core:4", "--node", "2,2,2"}, {"core"}},
      {{"--levels", "node:8", "--weights", "core:3"}, {"no level core"}},
      {{"--levels", "node:8", "--weights", "node:-3"}, {"'-3'"}},
      {{"--levels", "node:8", "--wieght", "1"}, {"'--wieght'"}},
      {{"--levels"}, {"--levels"}},
  };
  for (const auto& one : cases)
    for (const char* part : one.expected_words)
      EXPECT_NE(refusal_of_plan(one.given).find(part), std::string::npos)
          << part << ": " << refusal_of_plan(one.given);
}

TEST(PlacementCommand, levels_omitted_by_hand_join_the_next_inner_one) {
  const auto asked = parse_placement(
      words{"--levels", "node:27,socket:2,l3:8,core:4", "--node", "3,3,3", "--core", "4,4,4"});
  ASSERT_TRUE(asked.by_hand.has_value());
  EXPECT_EQ(asked.levels, (std::vector<hardware_level>{{"node", 27}, {"core", 64}}));
  EXPECT_EQ(asked.search.grid, (grid_triple{12, 12, 12}));
}

TEST(PlacementCommand, a_topology_gives_the_levels_of_a_node_with_a_rank_on_every_core) {
  if (!topology_of_this_machine().why_cores_only().empty()) GTEST_SKIP() << "no hwloc";
  const auto asked =
      parse_placement(words{"--nodes", "27", "--topology", "pack:2 numa:4 l3:4 core:2 pu:2"});
  EXPECT_EQ(asked.levels, (std::vector<hardware_level>{
                              {"node", 27}, {"socket", 2}, {"numa", 4}, {"l3", 4}, {"core", 2}}));
  EXPECT_NE(refusal_of_plan({"--topology", "spoon:2"}).find("'spoon:2'"), std::string::npos);
}

TEST(PlacementCommand, writes_a_plan_whose_auto_costs_no_more_than_the_published_placement) {
  const auto file =
      (std::filesystem::temp_directory_path() / fmt::format("longshore-plan-{}.json", getpid()))
          .string();
  const words given{"--levels",  "node:27,socket:2,numa:4,l3:4,core:2",
                    "--node",    "3,3,3",
                    "--socket",  "1,1,2",
                    "--numa",    "1,2,2",
                    "--l3",      "2,2,1",
                    "--core",    "2,1,1",
                    "--faces",   "--json",
                    file.c_str()};
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(run_placement_command(given), 0);
  const std::string table = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(table.find("by hand"), std::string::npos) << table;
  EXPECT_NE(table.find("--placement levels --node 3,3,3"), std::string::npos) << table;
  std::ifstream in(file);
  const json plan = json::parse(in);
  std::filesystem::remove(file);
  ASSERT_EQ(plan.at("placements").size(), 4u);
  const auto& by_hand = plan.at("placements").at(2);
  const auto& found = plan.at("placements").at(3);
  EXPECT_EQ(by_hand.at("placement"), "by hand");
  EXPECT_DOUBLE_EQ(by_hand.at("offnode_fraction").get<double>(), 0.25);
  EXPECT_LE(found.at("bytes").at("node").get<std::int64_t>(),
            by_hand.at("bytes").at("node").get<std::int64_t>());
  EXPECT_LE(found.at("cost").get<double>(), by_hand.at("cost").get<double>());
  EXPECT_GT(plan.at("placements").at(0).at("offnode_fraction").get<double>(), 0.4);
  EXPECT_EQ(run_placement_command(words{"--levels", "node:2", "--json", "/nowhere/x.json"}), 2);
}

}  // namespace
}  // namespace longshore::bench
