// Tests the fields and widths of parts, and that a wrong part is refused on all ranks.
#include <longshore/exchange/detail/plan_parts.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <string>

namespace longshore::detail {
namespace {

using testing::spmd;

TEST(PlanParts, the_fields_of_a_part_keep_their_order_and_smaller_widths) {
  spmd([](team& team) {
    using numbers = std::vector<std::size_t>;
    EXPECT_EQ(agree_on_part(team, "a plan", {.fields = {2, 0}}, 3), (numbers{2, 0}));
    EXPECT_EQ(agree_on_part(team, "a plan", {.width = 2}, 3), (numbers{0, 1, 2}));
    const halo_widths widths({1, 2, 3}, {3, 2, 0});
    EXPECT_EQ(narrower(widths, {.width = 2}), halo_widths({1, 2, 2}, {2, 2, 0}));
    EXPECT_EQ(narrower(widths, {.fields = {1}}), widths);
  });
}

TEST(PlanParts, wrong_parts_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const auto expect = [&](const std::string& words, const exchange_part& part) {
      try {
        (void)agree_on_part(team, "a plan of tests", part, 3);
        ADD_FAILURE() << "no error instead of: " << words;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::usage);
        EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
      }
    };
    expect("field 3 of a part of a plan of tests: use numbers from 0 to 2", {.fields = {0, 3}});
    expect("field -1 of a part of a plan of tests: use numbers from 0 to 2", {.fields = {-1}});
    expect("the 2nd field is twice in a part of a plan of tests: give it once",
           {.fields = {1, 0, 1}});
    expect("with a halo of 1 and -2 cells along y: use 0 or more",
           {.width = halo_widths({1, 1, 1}, {1, -2, 1})});
    const bool is_last = team.rank() == team.size() - 1;
    if (team.size() == 1) return;
    expect("rank 0 passes fields 0, and rank", {.fields = {is_last ? 1 : 0}});
    expect("passes widths", {.fields = {0}, .width = is_last ? 2 : 1});
  });
}

}  // namespace
}  // namespace longshore::detail
