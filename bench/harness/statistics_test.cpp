// Statistics over ranks and repetitions, and the cross product of levels.
#include "harness/statistics.hpp"
#include "harness/variants.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace longshore::bench {
namespace {

TEST(Statistics, interpolate_between_neighbours) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 2, 3}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.9), 9);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.1), 7);
}

TEST(Statistics, take_the_slowest_rank_of_each_repetition) {
  const std::vector<repetition> repetitions{
      repetition_of({1, 5, 2, 4}), repetition_of({3, 3, 3, 7}), repetition_of({2, 2, 2, 6})};
  EXPECT_DOUBLE_EQ(repetitions[0].max, 5);
  EXPECT_DOUBLE_EQ(repetitions[0].median, 3);
  EXPECT_DOUBLE_EQ(repetitions[0].min, 1);
  EXPECT_DOUBLE_EQ(repetitions[0].mean, 3);
  const summary seconds = summary_of(repetitions);
  EXPECT_DOUBLE_EQ(seconds.median, 6);
  EXPECT_DOUBLE_EQ(seconds.best, 5);
  EXPECT_DOUBLE_EQ(seconds.p10, 5.2);
  EXPECT_DOUBLE_EQ(seconds.p90, 6.8);
  EXPECT_DOUBLE_EQ(seconds.mean_over_ranks_median, 3);
}

TEST(Variants, are_the_cross_product_with_the_last_factor_fastest) {
  const std::vector<factor_levels> factors{
      {"strategy", {"a", "b"}}, {"not-given", {}}, {"task-count", {1, 2}}};
  EXPECT_EQ(json(cross_product(factors)), json::parse(
                                              R"([
    {"strategy":"a","task_count":1},{"strategy":"a","task_count":2},
    {"strategy":"b","task_count":1},{"strategy":"b","task_count":2}])"));
  EXPECT_EQ(label(json::parse(R"({"mode":"put","domain":[4,5,6],"halo":2})")),
            "mode=put domain=4,5,6 halo=2");
}

}  // namespace
}  // namespace longshore::bench
