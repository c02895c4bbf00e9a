// Strategy auto on every transport and layout: results are right whatever it chooses, all ranks
// make the same choice, and it measures once.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/gather/scatter.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace longshore {
namespace {

using testing::spmd;
using origin = gather_decision::origin;

// Each test has its own profile, does not touch the user's, and restores the environment. Only rank
// 0 reads the environment.
class Auto : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = ::testing::TempDir() + "longshore-auto-" + std::to_string(::getpid()) + ".profile";
    ::setenv("LONGSHORE_PROFILE", file_.c_str(), 1);
    ::setenv("LONGSHORE_TUNING_SECONDS", "0.01", 1);
  }
  void TearDown() override {
    std::filesystem::remove(file_);
    if (profile_before_)
      ::setenv("LONGSHORE_PROFILE", profile_before_->c_str(), 1);
    else
      ::unsetenv("LONGSHORE_PROFILE");
    ::unsetenv("LONGSHORE_TUNING_SECONDS");
  }
  std::string file_;

 private:
  std::optional<std::string> profile_before_ = environment_text("LONGSHORE_PROFILE");
};

std::vector<std::int64_t> random_indices(const team& team, std::uint64_t n, std::size_t count,
                                         std::uint64_t seed = 7) {
  random_stream random(seed, static_cast<std::uint64_t>(team.rank()));
  std::vector<std::int64_t> indices(count);
  for (auto& index : indices) index = static_cast<std::int64_t>(random.below(n));
  return indices;
}

void expect_same_on_all_ranks(team& team, const gather_decision& decision) {
  for (const auto& choice : decision.by_size) {
    const auto all = team.allgather_value(
        std::array<std::int64_t, 3>{static_cast<std::int64_t>(choice.strategy),
                                    static_cast<std::int64_t>(choice.buffer_items), choice.hops});
    for (const auto& theirs : all) EXPECT_EQ(theirs, all.front());
    EXPECT_NE(choice.strategy, gather_strategy::automatic);
  }
}

template <class Plan>
void expect_values(Plan& plan, team& team, std::uint64_t n) {
  for (const std::size_t count : {0, 3, 700, 9000})
    for (int again = 0; again < 2; ++again) {
      const auto indices =
          random_indices(team, n, count + static_cast<std::size_t>(team.rank()), count);
      std::vector<std::int64_t> out(indices.size());
      plan(indices, out);
      for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], -indices[i] - 1) << name_of(plan.strategy()) << ", " << count;
      EXPECT_EQ(plan.moved().payload_bytes, out.size() * sizeof(std::int64_t));
    }
}

template <class Table>
void fill(Table& table) {
  const auto part = table.local();
  for (std::size_t k = 0; k < part.size(); ++k)
    part[k] = -static_cast<std::int64_t>(table.map().index_of(table.team().rank(), k)) - 1;
  table.team().barrier();
}

TEST_F(Auto, gathers_with_the_measured_choice_and_does_not_change_the_table) {
  spmd([](team& team) {
    constexpr std::uint64_t n = 1009;
    dist_array<std::int64_t, cyclic> table(team, n);
    fill(table);
    gather_plan plan(table);
    EXPECT_EQ(plan.decision().from, origin::measured);
    expect_same_on_all_ranks(team, plan.decision());
    expect_values(plan, team, n);
    gather_plan second(table);
    EXPECT_EQ(second.decision().by_size, plan.decision().by_size);
    team.barrier();
    for (std::size_t k = 0; k < table.local().size(); ++k)
      ASSERT_EQ(table.local()[k],
                -static_cast<std::int64_t>(table.map().index_of(team.rank(), k)) - 1);
  });
}

TEST_F(Auto, scatters_and_updates_with_the_measured_choice) {
  spmd([](team& team) {
    constexpr std::uint64_t n = 503;
    dist_array<std::int64_t, block_cyclic> table(team, n, {.block_items = 4});
    scatter_plan write(table);
    expect_same_on_all_ranks(team, write.decision());
    team.barrier();
    // Rank r writes elements i with i % ranks == r.
    std::vector<std::int64_t> indices, values;
    for (std::int64_t i = team.rank(); i < static_cast<std::int64_t>(n); i += team.size()) {
      indices.push_back(i);
      values.push_back(3 * i);
    }
    write(indices, values);
    team.barrier();
    for (std::size_t k = 0; k < table.local().size(); ++k)
      ASSERT_EQ(table.local()[k],
                3 * static_cast<std::int64_t>(table.map().index_of(team.rank(), k)));

    update_plan add(table);
    expect_same_on_all_ranks(team, add.decision());
    team.barrier();
    std::vector<std::int64_t> everything(n), ones(n, 1);
    for (std::uint64_t i = 0; i < n; ++i) everything[i] = static_cast<std::int64_t>(i);
    add(everything, 1);
    add(everything, ones);
    team.barrier();
    for (std::size_t k = 0; k < table.local().size(); ++k)
      ASSERT_EQ(
          table.local()[k],
          3 * static_cast<std::int64_t>(table.map().index_of(team.rank(), k)) + 2 * team.size());
    team.barrier();
  });
}

TEST_F(Auto, a_run_uses_the_measurements_of_an_earlier_run) {
  const auto decide = [](origin expected, std::size_t other_size = 1009) {
    spmd([=](team& team) {
      dist_array<std::int64_t, cyclic> table(team, other_size);
      gather_plan plan(table);
      EXPECT_EQ(plan.decision().from, expected);
      team.barrier();
    });
  };
  decide(origin::measured);
  decide(origin::profile);
  decide(origin::profile, 1500);
  decide(origin::measured, 40'000);  // does not fit into the first level of a cache
  ::setenv("LONGSHORE_PROFILE", "off", 1);
  decide(origin::rule);
}

TEST_F(Auto, without_profile_it_uses_direct_if_possible_else_exstack) {
  ::setenv("LONGSHORE_PROFILE", "off", 1);
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 100);
    fill(table);
    gather_plan plan(table, {.buffer_items = 33});
    EXPECT_EQ(plan.decision().from, origin::rule);
    EXPECT_EQ(plan.strategy(),
              team.nodes().node_count() == 1 ? gather_strategy::direct : gather_strategy::exstack);
    EXPECT_EQ(plan.choice().buffer_items, 33u);
    expect_values(plan, team, 100);
  });
  EXPECT_FALSE(std::filesystem::exists(file_));
}

// If one rank has not enough memory, all ranks do without measuring.
TEST_F(Auto, all_ranks_fail_if_one_has_not_enough_memory) {
  spmd([](team& team) {
    const dist_array<std::int64_t, cyclic> table(team, 100);
    const std::size_t requests = team.rank() == team.size() - 1 ? std::size_t{1} << 50 : 10;
    try {
      const detail::tuning_table<std::int64_t, cyclic> tuned(table, {100, requests});
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::out_of_memory) << e.what();
    }
    team.barrier();
  });
}

TEST_F(Auto, an_empty_table_is_not_measured) {
  spmd([](team& team) {
    const dist_array<std::int64_t, cyclic> table(team, 0);
    gather_plan plan(table);
    EXPECT_EQ(plan.decision().from, origin::rule);
  });
}

TEST_F(Auto, an_unwritable_profile_is_kept_for_this_run) {
  ::setenv("LONGSHORE_PROFILE", "/proc/longshore/profile", 1);
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 1009);
    fill(table);
    gather_plan plan(table);
    EXPECT_EQ(plan.decision().from, origin::measured);
    gather_plan again(table);
    EXPECT_EQ(again.decision().by_size, plan.decision().by_size);
    expect_values(again, team, 1009);
  });
}

TEST_F(Auto, an_invalid_budget_fails_on_all_ranks) {
  ::setenv("LONGSHORE_TUNING_SECONDS", "soon", 1);
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 10);
    try {
      gather_plan plan(table);
      ADD_FAILURE();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_NE(std::string(e.what()).find("LONGSHORE_TUNING_SECONDS"), std::string::npos)
          << e.what();
    }
    team.barrier();
  });
}

// Replaces the measurements in the file: strategy agp is to be faster for small calls, exstack for
// larger ones.
void make_choices_differ(const std::string& file) {
  std::ifstream in(file);
  std::string title, columns, key;
  std::getline(in, title);
  std::getline(in, columns);
  for (int column = 0; column < 9; ++column) {
    std::string word;
    in >> word;
    key += word + " ";
  }
  in.close();
  std::ofstream out(file);
  out << title << '\n' << columns << '\n';
  for (const std::size_t requests : detail::measured_requests) {
    const bool small = requests == detail::measured_requests.front();
    const std::size_t lines = 2 * detail::request_classes;
    out << key << lines << " agp 1024 0 " << requests << (small ? " 1e-6 3\n" : " 1e-3 3\n");
    out << key << lines << " exstack 256 0 " << requests << (small ? " 1e-3 3\n" : " 1e-6 3\n");
  }
}

TEST_F(Auto, all_ranks_agree_on_the_strategy_for_each_size_of_calls) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 1009);
    gather_plan plan(table);
    team.barrier();
    if (team.rank() == 0) make_choices_differ(std::getenv("LONGSHORE_PROFILE"));
  });
  spmd([](team& team) {
    constexpr std::uint64_t n = 1009;
    dist_array<std::int64_t, cyclic> table(team, n);
    fill(table);
    gather_plan plan(table);
    ASSERT_TRUE(plan.decision().depends_on_requests());
    EXPECT_EQ(plan.decision().from, origin::profile);
    // Ranks have very different numbers of requests; the rank with many changes.
    for (int call = 0; call < 20; ++call) {
      const bool many = call % 3 == 0 && call % team.size() == team.rank();
      const auto indices = random_indices(team, n, many ? 20'000 : 5);
      std::vector<std::int64_t> out(indices.size());
      plan(indices, out);
      for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], -indices[i] - 1) << "call " << call;
      const auto strategies = team.allgather_value(plan.strategy());
      for (const auto theirs : strategies) EXPECT_EQ(theirs, strategies.front());
      if (call < 2) {  // rank 0 has many at call 0, none at call 1, where they agree again
        EXPECT_EQ(plan.strategy(), call == 0 ? gather_strategy::exstack : gather_strategy::agp);
      }
    }
    // After an error of one rank the plan can be used as before.
    const std::vector<std::int64_t> indices = {1, 2, 3};
    std::vector<std::int64_t> out(3);
    const bool mine = team.rank() == team.size() - 1;
    try {
      plan(indices, std::span(out).first(mine ? 2 : 3));
      EXPECT_FALSE(mine);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), mine ? errc::usage : errc::peer_failed);
    }
    team.barrier();
    for (int call = 0; call < 9; ++call) plan(indices, out);
    EXPECT_EQ(out, (std::vector<std::int64_t>{-2, -3, -4}));

    // With expected_requests the choice is made once.
    gather_plan large(table, {.expected_requests = team.rank() == 0 ? std::size_t{20'000} : 1});
    EXPECT_FALSE(large.decision().depends_on_requests());
    EXPECT_EQ(large.strategy(), gather_strategy::exstack);
    EXPECT_EQ(large.choice().buffer_items, 256u);
    expect_values(large, team, n);
  });
}

}  // namespace
}  // namespace longshore
