// Words for bindings, on an invented host.
#include <longshore/machine/affinity.hpp>

#include "facts/binding.hpp"

#include <gtest/gtest.h>

namespace longshore::bench {
namespace {

topology host() {
  const std::vector<topology::labelled_level> levels{
      {"socket", {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}},
      {"l3", {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
      {"core", {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}}};
  return {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, levels};
}

std::vector<int> range(int first, int last) {
  std::vector<int> cpus;
  for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  return cpus;
}

TEST(Binding, is_the_smallest_object_that_holds_all_cpus) {
  EXPECT_EQ(binding_word(host(), range(3, 3)), "core");
  EXPECT_EQ(binding_word(host(), range(2, 3)), "core");
  EXPECT_EQ(binding_word(host(), range(1, 2)), "l3");
  EXPECT_EQ(binding_word(host(), range(0, 7)), "socket");
  EXPECT_EQ(binding_word(host(), range(4, 11)), "cpus");
  EXPECT_EQ(binding_word(host(), range(0, 15)), "none");
  EXPECT_EQ(binding_word(host().restricted_to(range(0, 1)), range(0, 1)), "core");
}

TEST(Binding, names_who_removed_cpus) {
  EXPECT_EQ(bound_by(host(), range(0, 15), range(2, 3)), "longshore");
  EXPECT_EQ(bound_by(host(), range(0, 7), range(2, 3)), "longshore");
  EXPECT_EQ(bound_by(host(), range(2, 3), range(2, 3)), "launcher");
  EXPECT_EQ(bound_by(host(), range(0, 15), range(0, 15)), "none");
}

TEST(Binding, lists_cpus_as_the_kernel_does) {
  EXPECT_EQ(cpu_list(std::vector{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(cpu_list(std::vector{5}), "5");
  EXPECT_EQ(cpu_list(std::vector{1, 3, 4}), "1,3-4");
  EXPECT_EQ(cpu_list({}), "");
}

TEST(Binding, of_this_process_is_in_the_list) {
  const pinned binding(allowed_cpus().front());
  const json listed = binding_listing();
  EXPECT_EQ(listed.at("process"), "core");
  EXPECT_EQ(listed.at("by"), this_host().cpus().size() > 1 ? "launcher" : "none");
  EXPECT_EQ(listed.at("cpus"), std::to_string(allowed_cpus().front()));
  EXPECT_FALSE(topology_listing().at("levels").empty());
}

}  // namespace
}  // namespace longshore::bench
