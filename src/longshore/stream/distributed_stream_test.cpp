// STREAM over distributed arrays, on every transport.
#include <longshore/stream/choose_store_kind.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::spmd;

// All results must be right. Then the last rank that has elements changes one element, and only
// this rank must find a wrong element.
template <class T, class D>
void every_kernel_is_right(team& team, std::uint64_t elements) {
  tasks workers({.layer = "threads", .count = 2, .spin = false});
  for (const auto kernel : values_of<stream_kernel>()) {
    stream run(distributed_arrays<T, D>(team, elements), workers,
               {.kernel = kernel, .stores = store_kind::streaming});
    for (int i = 0; i < 2; ++i) run.run();
    EXPECT_EQ(run.wrong_elements(), 0u) << name_of(kernel) << ", " << elements << " elements";
    const auto elements_here = run.arrays().local(0);
    const int faulty =
        team.allreduce_value(elements_here.empty() ? -1 : team.rank(), reduction::max);
    EXPECT_EQ(faulty, elements == 0
                          ? -1
                          : static_cast<int>(std::min<std::uint64_t>(team.size(), elements)) - 1);
    if (team.rank() == faulty) elements_here.back() += 1;
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

void expect_same_kind_on_all_ranks(team& team, store_kind kind) {
  const int streaming_ranks =
      team.allreduce_value(kind == store_kind::streaming ? 1 : 0, reduction::sum);
  EXPECT_TRUE(streaming_ranks == 0 || streaming_ranks == team.size())
      << streaming_ranks << " of " << team.size();
}

// A measurement must also leave right results.
TEST(DistributedStream, stores_are_chosen_by_a_clear_size_and_measured_otherwise) {
  spmd([](team& team) {
    tasks workers({.layer = "threads", .count = 2, .spin = false});
    stream loops(distributed_arrays<double, block>(team, 10'000), workers, {});
    const std::size_t cache = reached_cache_bytes(team.size() * 2);
    struct expectation {
      std::size_t bytes;
      bool measured;
      store_kind kind;  // expected if not measured
    };
    for (const auto& [bytes, measured, kind] :
         {expectation{cache / 5, false, store_kind::ordinary}, expectation{cache, true, {}},
          expectation{cache / 3, true, {}}, expectation{cache * 5, false, store_kind::streaming}}) {
      loops.set_stores(kind == store_kind::ordinary ? store_kind::streaming : store_kind::ordinary);
      const auto choice = choose_store_kind(team, loops, bytes, team.size() * 2);
      EXPECT_EQ(choice.measured, measured) << bytes;
      EXPECT_EQ(choice.cache_bytes, cache);
      EXPECT_EQ(choice.kind, loops.options().stores);
      EXPECT_TRUE(measured || choice.kind == kind) << bytes;
      expect_same_kind_on_all_ranks(team, choice.kind);
      EXPECT_EQ(loops.wrong_elements(), 0u);
    }
  });
}

// Parts of distributed arrays differ in size, and hosts in their caches.
TEST(DistributedStream, all_ranks_measure_stores_if_one_needs_it) {
  spmd([](team& team) {
    tasks calling_thread;
    stream loops(distributed_arrays<double, block_cyclic>(team, 1500, {1024}), calling_thread, {});
    const std::size_t cache = reached_cache_bytes(team.size());
    struct expectation {
      std::size_t on_last, on_others;
      bool measured;
    };
    for (const auto& [on_last, on_others, measured] :
         {expectation{cache, 0, true}, expectation{0, cache, true},
          expectation{0, 100 * cache, true}, expectation{0, 0, false}}) {
      const auto choice = choose_store_kind(
          team, loops, team.rank() + 1 == team.size() ? on_last : on_others, team.size());
      EXPECT_TRUE(team.size() == 1 || choice.measured == measured)
          << on_last << " and " << on_others;
      EXPECT_EQ(team.allreduce_value<int>(choice.measured, reduction::min),
                team.allreduce_value<int>(choice.measured, reduction::max));
      EXPECT_EQ(loops.wrong_elements(), 0u);
      expect_same_kind_on_all_ranks(team, choice.kind);
    }
  });
}

TEST(DistributedStream, arrays_larger_than_the_memory_are_refused_on_all_ranks) {
  spmd([](team& team) {
    EXPECT_THROW((distributed_arrays<double, block>(team, std::uint64_t{1} << 50)), error);
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore
