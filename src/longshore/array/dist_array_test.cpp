// Distributed arrays on every transport: each element has one owner, and all ranks agree on it.
#include <longshore/array/dist_array.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace longshore {
namespace {

using testing::spmd;

// Each owner writes the global index into its elements. Then every rank reads all elements.
template <class D>
void every_rank_sees_every_element(D distribution) {
  spmd([&](team& team) {
    for (const std::uint64_t n : {0, 1, 2, 5, 64, 1000, 4099}) {
      dist_array<std::int64_t, D> array(team, n, distribution);
      ASSERT_EQ(array.size(), n);
      ASSERT_EQ(array.local().size(), array.map().local_size(team.rank()));
      ASSERT_EQ(team.allreduce_value(array.local().size(), reduction::sum), n);
      for (const auto value : array.local()) ASSERT_EQ(value, 0);
      for (std::size_t offset = 0; offset < array.local().size(); ++offset)
        array.local()[offset] =
            static_cast<std::int64_t>(array.map().index_of(team.rank(), offset)) + 1000;
      team.barrier();
      for (std::uint64_t i = 0; i < n; ++i) {
        const auto [rank, offset] = array.map().owner_offset(i);
        std::int64_t value = 0;
        if (const auto* part = array.direct_parts()[rank])
          value = part[offset];
        else
          array.segment().get(rank, offset * sizeof(value), &value, sizeof(value));
        ASSERT_EQ(value, static_cast<std::int64_t>(i) + 1000);
      }
      for (int rank = 0; rank < team.size(); ++rank)
        ASSERT_EQ(array.direct_parts()[rank] != nullptr, team.nodes().is_local(rank));
      ASSERT_EQ(array.is_all_direct(), team.nodes().node_count() == 1);
      team.barrier();
    }
  });
}

TEST(DistArray, every_rank_sees_every_element_of_block) { every_rank_sees_every_element(block{}); }
TEST(DistArray, every_rank_sees_every_element_of_cyclic) {
  every_rank_sees_every_element(cyclic{});
}
TEST(DistArray, every_rank_sees_every_element_of_block_cyclic) {
  every_rank_sees_every_element(block_cyclic{3});
}

TEST(DistArray, can_be_moved) {
  spmd([](team& team) {
    dist_array<int> a(team, 100);
    std::ranges::fill(a.local(), 5);
    const dist_array<int> b(std::move(a));
    EXPECT_EQ(b.size(), 100u);
    for (const int value : b.local()) EXPECT_EQ(value, 5);
  });
}

// Expects an error of make(team) on all ranks.
template <class Make>
void refused(errc code, const std::string& part_of_message, const Make& make, int min_ranks = 1) {
  spmd([&](team& team) {
    if (team.size() < min_ranks) return;
    try {
      make(team);
      ADD_FAILURE() << "was accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      EXPECT_NE(std::string(e.what()).find(part_of_message), std::string::npos) << e.what();
    }
    team.barrier();  // passes only if all ranks threw
  });
}

TEST(DistArray, a_size_beyond_any_memory_is_refused_on_all_ranks) {
  refused(errc::out_of_memory, "any memory", [](team& team) {
    dist_array<double> a(team, std::numeric_limits<std::uint64_t>::max());
  });
  refused(errc::out_of_memory, "any memory",
          [](team& team) { dist_array<double, cyclic> a(team, max_elements); });
  refused(errc::out_of_memory, "any memory", [](team& team) {
    dist_array<double, block_cyclic> a(team, max_elements, {max_elements});
  });
  refused(errc::out_of_memory, "bytes",
          [](team& team) { dist_array<double> a(team, std::uint64_t{1} << 50); });
}

TEST(DistArray, different_sizes_are_refused_on_all_ranks) {
  const auto make = [](team& team) {
    dist_array<int> a(team, team.rank() == team.size() - 1 ? 100 : 101);
  };
  refused(errc::usage, "rank 0 passes a size of 101, and rank", make, 2);
  refused(errc::usage, "passes a size of 100: all ranks must pass the same", make, 2);
}

TEST(DistArray, different_block_sizes_are_refused_on_all_ranks) {
  for (const std::uint64_t items : {std::uint64_t{5}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    const auto make = [items](team& team) {
      dist_array<int, block_cyclic> a(team, 100, {team.rank() == team.size() - 1 ? items : 4});
    };
    refused(errc::usage, "rank 0 passes blocks of 4, and rank", make, 2);
  }
}

TEST(DistArray, different_types_are_refused_on_all_ranks) {
  const auto make = [](team& team) {
    if (team.rank() == team.size() - 1)
      dist_array<std::int64_t> a(team, 100);
    else
      dist_array<double> a(team, 100);
  };
  refused(errc::usage, "elements of float64 (8 bytes), and rank", make, 2);
  refused(errc::usage, "passes elements of int64 (8 bytes)", make, 2);
}

TEST(DistArray, empty_blocks_are_refused) {
  refused(errc::usage, "at least 1",
          [](team& team) { dist_array<int, block_cyclic> a(team, 10, {0}); });
}

}  // namespace
}  // namespace longshore
