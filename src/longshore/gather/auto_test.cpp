// Strategy auto on every transport and layout: results are right for every choice, all ranks make
// the same choice, and a run measures once.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/gather/index_patterns_test.hpp>
#include <longshore/gather/scatter.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace longshore {
namespace {

using testing::spmd;
using origin = gather_decision::origin;

// Every test has a profile of its own and restores the environment.
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

std::int64_t element(std::uint64_t index) { return -static_cast<std::int64_t>(index) - 1; }

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
    for (const auto& choice_of_rank : all) EXPECT_EQ(choice_of_rank, all.front());
    EXPECT_NE(choice.strategy, gather_strategy::automatic);
  }
}

template <class Plan>
void expect_values(Plan& plan, team& team, std::uint64_t n) {
  for (const std::size_t count : {0, 3, 700, 9000})
    for (int call = 0; call < 2; ++call) {
      const auto indices =
          random_indices(team, n, count + static_cast<std::size_t>(team.rank()), count);
      std::vector<std::int64_t> out(indices.size());
      plan(indices, out);
      for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], element(indices[i])) << name_of(plan.strategy()) << ", " << count;
      EXPECT_EQ(plan.moved().payload_bytes, out.size() * sizeof(std::int64_t));
    }
}

TEST_F(Auto, gathers_with_the_measured_choice_and_does_not_change_the_table) {
  spmd([](team& team) {
    constexpr std::uint64_t n = 1009;
    dist_array<std::int64_t, cyclic> table(team, n);
    testing::fill_table(table, element);
    gather_plan plan(table);
    EXPECT_EQ(plan.decision().from, origin::measured);
    expect_same_on_all_ranks(team, plan.decision());
    expect_values(plan, team, n);
    gather_plan second(table);
    EXPECT_EQ(second.decision().by_size, plan.decision().by_size);
    team.barrier();
    testing::for_each_local_element(
        table, [](auto value, std::uint64_t i) { ASSERT_EQ(value, element(i)); });
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
    const auto expect_elements = [&](int updates) {
      testing::for_each_local_element(table, [&](auto value, std::uint64_t i) {
        ASSERT_EQ(value, 3 * static_cast<std::int64_t>(i) + updates);
      });
    };
    expect_elements(0);

    update_plan add(table);
    expect_same_on_all_ranks(team, add.decision());
    team.barrier();
    std::vector<std::int64_t> everything(n), ones(n, 1);
    for (std::uint64_t i = 0; i < n; ++i) everything[i] = static_cast<std::int64_t>(i);
    add(everything, 1);
    add(everything, ones);
    team.barrier();
    expect_elements(2 * team.size());
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
    testing::fill_table(table, element);
    gather_plan plan(table, {.buffer_items = 33});
    EXPECT_EQ(plan.decision().from, origin::rule);
    EXPECT_EQ(plan.strategy(),
              team.nodes().node_count() == 1 ? gather_strategy::direct : gather_strategy::exstack);
    EXPECT_EQ(plan.choice().buffer_items, 33u);
    expect_values(plan, team, 100);
  });
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(Auto, all_ranks_throw_if_one_rank_has_too_little_memory) {
  spmd([](team& team) {
    const dist_array<std::int64_t, cyclic> table(team, 100);
    const std::size_t requests = team.rank() == team.size() - 1 ? std::size_t{1} << 50 : 10;
    testing::expect_error(errc::out_of_memory, [&] {
      const detail::tuning_table<std::int64_t, cyclic> tuned(table, {100, requests});
    });
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
    testing::fill_table(table, element);
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

TEST_F(Auto, a_candidate_that_cannot_win_is_not_called_with_more_requests) {
  spmd([](team& team) {
    std::size_t most_requests_of_slow = 0;
    const auto make = [&](const gather_choice& choice) -> detail::run_candidate {
      return [&, is_slow = choice.strategy == gather_strategy::exstack](std::size_t requests) {
        if (!is_slow) return;
        most_requests_of_slow = std::max(most_requests_of_slow, requests);
        constexpr double seconds = 0.05;
        if (team.rank() != 0) return;
        team.charge_seconds(seconds);
        if (team.costs() == nullptr)
          std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      };
    };
    const std::vector<gather_choice> choices = {{gather_strategy::exstack}, {gather_strategy::agp}};
    const auto measured = detail::measure_candidates(team, choices, make, {.seconds = 0.05});
    EXPECT_EQ(most_requests_of_slow, 100u);
    EXPECT_FALSE(measured.empty());
    for (const auto& timed : measured) EXPECT_EQ(timed.choice.strategy, gather_strategy::agp);
  });
}

// Replaces the measurements in the file: strategy agp becomes faster for small calls, and exstack
// for larger calls.
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
    testing::fill_table(table, element);
    gather_plan plan(table);
    ASSERT_TRUE(plan.decision().depends_on_requests());
    EXPECT_EQ(plan.decision().from, origin::profile);
    // In every third call, another rank has many requests.
    for (int call = 0; call < 20; ++call) {
      const bool many = call % 3 == 0 && call % team.size() == team.rank();
      const auto indices = random_indices(team, n, many ? 20'000 : 5);
      std::vector<std::int64_t> out(indices.size());
      plan(indices, out);
      for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], element(indices[i])) << "call " << call;
      const auto strategies = team.allgather_value(plan.strategy());
      for (const auto strategy : strategies) EXPECT_EQ(strategy, strategies.front());
      // Rank 0 has many requests in call 0. In call 1 no rank has, and the ranks agree again.
      if (call < 2) {
        EXPECT_EQ(plan.strategy(), call == 0 ? gather_strategy::exstack : gather_strategy::agp);
      }
    }
    // After an error on one rank, the plan can be used again.
    const std::vector<std::int64_t> indices = {1, 2, 3};
    std::vector<std::int64_t> out(3);
    const bool fails = team.rank() == team.size() - 1;
    try {
      plan(indices, std::span(out).first(fails ? 2 : 3));
      EXPECT_FALSE(fails);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), fails ? errc::usage : errc::peer_failed);
    }
    team.barrier();
    for (int call = 0; call < 9; ++call) plan(indices, out);
    EXPECT_EQ(out, (std::vector<std::int64_t>{-2, -3, -4}));

    // With expected_requests, the plan chooses once.
    gather_plan large(table, {.expected_requests = team.rank() == 0 ? std::size_t{20'000} : 1});
    EXPECT_FALSE(large.decision().depends_on_requests());
    EXPECT_EQ(large.strategy(), gather_strategy::exstack);
    EXPECT_EQ(large.choice().buffer_items, 256u);
    expect_values(large, team, n);
  });
}

}  // namespace
}  // namespace longshore
