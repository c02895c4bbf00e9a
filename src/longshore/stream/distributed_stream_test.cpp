// STREAM over distributed arrays, on every transport.
#include <longshore/stream/stream.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::spmd;

// Right on all ranks; then one wrong element on the last rank that has any, which that rank finds and no other.
template <class T, class D>
void every_kernel_is_right(team& team, std::uint64_t elements) {
  tasks workers({.layer = "threads", .count = 2, .spin = false});
  for (const auto name : stream_kernel_names) {
    stream run(distributed_arrays<T, D>(team, elements), workers,
               {.kernel = *stream_kernel_named(name), .stores = store_kind::streaming});
    for (int i = 0; i < 2; ++i) run.run();
    EXPECT_EQ(run.wrong_elements(), 0u) << name << ", " << elements << " elements";
    const auto mine = run.arrays().local(0);
    const int faulty = team.allreduce_value(mine.empty() ? -1 : team.rank(), reduction::max);
    EXPECT_EQ(faulty, elements == 0 ? -1 : static_cast<int>(std::min<std::uint64_t>(team.size(), elements)) - 1);
    if (team.rank() == faulty) mine.back() += 1;
    EXPECT_EQ(run.wrong_elements(), team.rank() == faulty ? 1u : 0u);
  }
}

TEST(DistributedStream, every_kernel_is_right_and_a_wrong_element_is_found) {
  spmd([](team& team) {
    for (const std::uint64_t elements : {0, 5, 40'001}) {
      every_kernel_is_right<double, block>(team, elements);
      every_kernel_is_right<float, cyclic>(team, elements);
    }
  });
}

TEST(DistributedStream, more_than_there_is_is_refused_on_all_ranks) {
  spmd([](team& team) {
    EXPECT_THROW((distributed_arrays<double, block>(team, std::uint64_t{1} << 50)), error);
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore
