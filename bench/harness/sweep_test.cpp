// The sweep on every transport: how often, in which order and in which state variants run, and how
// wrong results, refusals and failures of one rank reach all ranks.
#include <longshore/core/error.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/spmd_test.hpp>

#include "harness/agreed_request.hpp"
#include "harness/line_probe.hpp"
#include "harness/run_counters.hpp"
#include "harness/sweep.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace longshore::bench {
namespace {

constexpr double late_seconds = 0.004;
constexpr std::size_t touched_pages = 64;

// The rank touches one half, and a thread that the rank starts (a task) touches the other half.
void touch_fresh_pages() {
  const auto touch = [] {
    const std::size_t bytes = touched_pages / 2 * page_bytes();
    const pages memory(bytes);
    madvise(memory.data(), bytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < bytes; at += page_bytes())
      static_cast<volatile std::byte*>(memory.data())[at] = std::byte{1};
  };
  touch();
  std::thread(touch).join();
}

struct call_counts {
  int alive = 0, max_alive = 0, made = 0;
  std::map<std::string, int> runs, runs_with_phases, resets, timed, verified;
};

class dummy final : public measurement {
 public:
  dummy(team& team, const variant& levels, call_counts& calls)
      : team_(team), name_(levels.at("kind")), counts_(calls) {
    ++counts_.made;
    counts_.max_alive = std::max(counts_.max_alive, ++counts_.alive);
    if (name_ == "large") ballast_.assign(std::size_t{64} << 20, 'x');
  }
  ~dummy() override { --counts_.alive; }
  dummy(const dummy&) = delete;
  dummy& operator=(const dummy&) = delete;

  void reset() override { ++counts_.resets[name_]; }
  void timed(const repetition& seconds, long iterations) override {
    if (seconds.max > 0 && iterations > 0) ++counts_.timed[name_];
  }
  [[nodiscard]] bool repeatable() const override { return name_ != "once"; }
  void run() override {
    const int runs = ++counts_.runs[name_];
    if (times_phases_) ++counts_.runs_with_phases[name_];
    if (name_ == "memory") throw std::bad_alloc();
    if (name_ == "fails" && team_.rank() == team_.size() - 1 && runs == 2)
      fail(errc::transport, "a cable is out");
    if (name_ == "millisecond") std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (name_ == "late" && team_.rank() == team_.size() - 1)
      std::this_thread::sleep_for(std::chrono::duration<double>(late_seconds));
    if (name_ == "faults") touch_fresh_pages();
    const double waited = team_.waited_seconds();
    team_.barrier();
    waited_ = team_.waited_seconds() - waited;
  }
  [[nodiscard]] std::vector<phase_cost> phase_costs() const override {
    return {{"second", waited_, {.messages = 1}}};
  }
  void time_phases(bool on) override { times_phases_ = on; }
  [[nodiscard]] phase_seconds phases() const override {
    if (name_ == "on request" && !times_phases_) return {};
    return {{"second", 2.0 + team_.rank()}};
  }
  [[nodiscard]] bool verify() override {
    const int times = ++counts_.verified[name_];
    if (name_ == "wrong") return team_.rank() != 0;
    if (name_ == "wrong at last") return times == 1;
    return true;
  }
  [[nodiscard]] traffic moved() const override { return {1, 10, 20, 5}; }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    if (name_ == "infinite") return {{"figure", std::numeric_limits<double>::infinity(), ""}};
    return {{"figure", seconds.median, "s", false}};
  }

 private:
  team& team_;
  std::string name_;
  call_counts& counts_;
  std::vector<char> ballast_;
  bool times_phases_ = false;
  double waited_ = 0;
};

struct listener final : observer {
  struct seen {
    std::string kind;
    int repetition;
    std::size_t position;
    bench::repetition seconds;
  };
  void visit(int, int, std::size_t, std::size_t, const variant&) override { ++visits; }
  void sample(const variant& levels, int repetition, std::size_t position,
              const bench::repetition& seconds) override {
    samples.push_back({levels.at("kind"), repetition, position, seconds});
  }
  void result(const variant_result& measured) override { results.push_back(measured); }
  void skipped(const skipped_variant& skip) override { skips.push_back(skip); }
  [[nodiscard]] const variant_result& result_of(const std::string& kind) const {
    return *std::find_if(results.begin(), results.end(),
                         [&](const variant_result& r) { return r.levels.at("kind") == kind; });
  }
  int visits = 0;
  std::vector<seen> samples;
  std::vector<variant_result> results;
  std::vector<skipped_variant> skips;
};

struct dummy_sweep {
  call_counts calls;
  listener heard;
  sweep_outcome outcome;
};

dummy_sweep sweep_dummies(team& team, const std::vector<std::string>& kinds,
                          const sweep_options& options, double clock_step = 1e-9) {
  dummy_sweep run;
  pattern dummies{"dummy", "", {}, {}, {}, {}};
  dummies.make = [&](longshore::team& t, const variant& levels,
                     const launch_facts&) -> std::unique_ptr<measurement> {
    if (levels.at("kind") == "refused") fail(errc::unsupported, "no such thing");
    return std::make_unique<dummy>(t, levels, run.calls);
  };
  variants chosen;
  for (const auto& kind : kinds) chosen.to_run.push_back(json{{"kind", kind}});
  const sweep_setting setting{dummies, {}, options, {clock_step, clock_step}, 1};
  run.outcome = sweep(team, setting, chosen, team.rank() == 0 ? &run.heard : nullptr);
  EXPECT_EQ(run.calls.alive, 0) << "a measurement is still alive";
  return run;
}

TEST(Sweep, every_round_visits_every_variant_in_an_order_of_its_own) {
  longshore::testing::spmd([](team& team) {
    const std::vector<std::string> kinds{"a", "b", "c", "d", "e", "f"};
    const auto run = sweep_dummies(team, kinds, {.repetitions = 8, .iterations = 1, .seed = 5});
    EXPECT_EQ(run.outcome.ran, 6);
    EXPECT_EQ(run.outcome.wrong, 0);
    EXPECT_EQ(run.calls.runs.at("a"), 1 + 8);
    if (team.rank() != 0) return;
    EXPECT_EQ(run.heard.visits, 9 * 6);
    std::set<std::vector<std::string>> orders;
    ASSERT_EQ(run.heard.samples.size(), 48U);
    for (int round = 0; round < 8; ++round) {
      std::vector<std::string> order(kinds.size());
      for (const auto& sample : run.heard.samples)
        if (sample.repetition == round) order.at(sample.position) = sample.kind;
      orders.insert(order);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, kinds) << "round " << round;
    }
    EXPECT_GT(orders.size(), 5U) << "the orders hardly differ";
  });
}

TEST(Sweep, the_order_follows_the_seed_or_on_request_the_command_line) {
  longshore::testing::spmd([](team& team) {
    const std::vector<std::string> kinds{"a", "b", "c", "d", "e", "f"};
    const auto order = [&](const sweep_options& options) {
      std::string text;
      for (const auto& sample : sweep_dummies(team, kinds, options).heard.samples)
        text += sample.kind;
      return text;
    };
    const auto first = order({.repetitions = 3, .iterations = 1, .seed = 1}),
               again = order({.repetitions = 3, .iterations = 1, .seed = 1});
    const auto other = order({.repetitions = 3, .iterations = 1, .seed = 2});
    const auto straight = order({.repetitions = 3, .iterations = 1, .shuffle = false});
    if (team.rank() != 0) return;
    EXPECT_EQ(first, again);
    EXPECT_NE(first, other);
    EXPECT_EQ(straight, "abcdefabcdefabcdef");
  });
}

TEST(Sweep, counts_operations_resets_and_verifications) {
  longshore::testing::spmd([](team& team) {
    const auto run =
        sweep_dummies(team, {"often", "once"}, {.repetitions = 4, .warmup = 3, .iterations = 5});
    // One run in the preparation, then two untimed and four timed rounds.
    EXPECT_EQ(run.calls.runs.at("often"), 1 + (2 + 4) * 5);
    EXPECT_EQ(run.calls.runs.at("once"), 1 + (2 + 4) * 1)
        << "an operation that destroys its input is never repeated";
    EXPECT_EQ(run.calls.resets.at("once"), 1 + 2 + 4);
    EXPECT_EQ(run.calls.timed.at("often"), 4) << "only timed rounds are counted";
    EXPECT_EQ(run.calls.verified.at("often"), 1 + 4) << "the preparation and each timed round";
    sweep_options options{.repetitions = 4, .iterations = 5};
    for (const auto& [which, count] :
         {std::pair{verification::ends, 2}, std::pair{verification::no, 0}}) {
      options.verify = which;
      EXPECT_EQ(sweep_dummies(team, {"often"}, options).calls.verified["often"], count);
    }
    EXPECT_EQ(run.calls.made, 2);
    if (team.rank() != 0) return;
    EXPECT_EQ(run.heard.result_of("often").iterations, 5);
    EXPECT_EQ(run.heard.result_of("once").iterations, 1);
    EXPECT_EQ(run.heard.result_of("once").verified, true);
    EXPECT_TRUE(run.heard.result_of("once").made_once);
  });
}

TEST(Sweep, runs_the_noise_probe_before_each_timed_repetition) {
  longshore::testing::spmd([](team& team) {
    const auto run = sweep_dummies(team, {"a", "b"}, {.repetitions = 3, .iterations = 1});
    const auto none =
        sweep_dummies(team, {"a"}, {.repetitions = 1, .iterations = 1, .noise_probe = false});
    EXPECT_EQ(run.calls.runs.at("a"), 1 + 3) << "the noise probe is no operation of a variant";
    if (team.rank() != 0) return;
    EXPECT_FALSE(none.heard.results.at(0).probe_seconds);
    for (const auto& result : run.heard.results) {
      ASSERT_EQ(result.probe_seconds.has_value(), team.size() > 1)
          << "one rank has nobody to exchange with";
      EXPECT_GT(result.probe_seconds.value_or(1), 0);
    }
  });
}

TEST(Sweep, measures_a_cache_line_between_ranks_that_share_a_node_and_no_core) {
  longshore::testing::spmd([](team& team) {
    const auto run = sweep_dummies(team, {"a", "b"}, {.repetitions = 3, .iterations = 1});
    const auto none =
        sweep_dummies(team, {"a"}, {.repetitions = 1, .iterations = 1, .noise_probe = false});
    if (team.rank() != 0) return;
    EXPECT_FALSE(none.heard.results.at(0).cache_line);
    for (const auto& result : run.heard.results) {
      const bool is_useful = team.nodes().node_count() < team.size() && team.waiting().spin;
      EXPECT_TRUE(is_useful || !result.cache_line);
      if (!result.cache_line)
        continue;  // on a busy machine the two ranks may never run at the same time
      EXPECT_GT(result.cache_line->p10, 0);
      EXPECT_LE(result.cache_line->p10, result.cache_line->median);
      EXPECT_LE(result.cache_line->median, result.cache_line->p90);
    }
  });
}

TEST(LineProbe, of_a_repetition_is_the_median_over_pairs) {
  longshore::testing::spmd([](team& team) {
    if (!line_probe::is_useful(team)) return;
    const line_probe probe(team);
    // Only the first rank of a pair has seconds.
    const bool is_first =
        team.nodes().local_index(team.rank()) % 2 == 0 &&
        team.nodes().local_index(team.rank()) + 1 < team.nodes().ranks_on_my_node();
    std::vector<double> seconds(11, is_first ? 1e-7 : 0);
    if (is_first) seconds.back() = 3e-7;
    seconds.push_back(0);  // the ranks did not run at the same time
    const auto found = probe.over_pairs(seconds);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->median, 1e-7);
    EXPECT_EQ(found->p10, 1e-7);
    EXPECT_EQ(found->p90, 1e-7) << "a single repetition is no second state of the machine";
    EXPECT_FALSE(probe.over_pairs(std::vector<double>(3)));
  });
}

TEST(Sweep, gives_seconds_phases_and_traffic_of_all_ranks) {
  longshore::testing::spmd([](team& team) {
    const auto run = sweep_dummies(team, {"millisecond"}, {.repetitions = 3, .iterations = 2});
    if (team.rank() != 0) return;
    const auto& result = run.heard.results.at(0);
    EXPECT_GE(result.seconds.best, 0.001) << "seconds are those of one operation";
    EXPECT_GE(run.heard.samples.at(0).seconds.max, run.heard.samples.at(0).seconds.min);
    const auto ranks = static_cast<std::uint64_t>(team.size());
    EXPECT_EQ(result.moved.messages, ranks);
    EXPECT_EQ(result.moved.payload_bytes, 10 * ranks);
    EXPECT_EQ(result.moved.wire_bytes, 20 * ranks);
    EXPECT_EQ(result.moved.offnode_bytes, 5 * ranks);
    ASSERT_EQ(result.seconds.phases.size(), 1U);
    EXPECT_DOUBLE_EQ(result.seconds.phases[0].second, 1.0 + team.size());
    ASSERT_EQ(result.median_phase_minima.size(), 1U);
    EXPECT_EQ(result.median_phase_minima[0].first, "second");
    EXPECT_DOUBLE_EQ(result.median_phase_minima[0].second, 2.0);
  });
}

TEST(Sweep, times_phases_on_request_in_repetitions_of_their_own) {
  longshore::testing::spmd([](team& team) {
    const auto run =
        sweep_dummies(team, {"on request"}, {.repetitions = 3, .iterations = 2, .phases = true});
    EXPECT_EQ(run.calls.runs.at("on request"), 1 + 3 * 2 * 2);
    EXPECT_EQ(run.calls.runs_with_phases.at("on request"), 3 * 2);
    EXPECT_EQ(run.calls.resets.at("on request"), 1 + 3 * 2) << "each repetition has fresh input";
    EXPECT_EQ(run.calls.timed.at("on request"), 3);
    const auto none = sweep_dummies(team, {"on request"}, {.repetitions = 1, .iterations = 1});
    EXPECT_TRUE(none.calls.runs_with_phases.empty());
    if (team.rank() != 0) return;
    const auto &timed = run.heard.results.at(0), &untimed = none.heard.results.at(0);
    ASSERT_EQ(timed.median_phase_means.size(), 1U);
    EXPECT_EQ(timed.median_phase_means[0].first, "second");
    EXPECT_DOUBLE_EQ(timed.median_phase_means[0].second, 2.0 + (team.size() - 1) / 2.0);
    EXPECT_DOUBLE_EQ(timed.median_phase_minima.at(0).second, 2.0);
    EXPECT_DOUBLE_EQ(timed.seconds.phases.at(0).second, 1.0 + team.size());
    EXPECT_TRUE(untimed.seconds.phases.empty());
    EXPECT_TRUE(untimed.median_phase_means.empty());
  });
}

// Counts known events, waits for a late rank, and a refusal.
TEST(Sweep, counts_events_of_the_timed_operations) {
  longshore::testing::spmd([](team& team) {
    const auto run = sweep_dummies(team, {"late", "faults"}, {.repetitions = 3, .iterations = 2});
    if (team.rank() != 0) return;
    const json late = run.heard.result_of("late").facts.at("counters"),
               faults = run.heard.result_of("faults").facts.at("counters");
    EXPECT_EQ(late.at("repetitions"), 3);
    EXPECT_EQ(late.at("operations"), 6);
    EXPECT_GE(late.at("context_switches").at("voluntary").get<double>(), 1.0)
        << "the late rank sleeps, which switches contexts";
    // Only the last rank is late: a single rank has nobody to wait for.
    if (team.size() > 1) {
      EXPECT_GE(late.at("waited_seconds").at("max").get<double>(), 0.5 * late_seconds);
      EXPECT_LE(late.at("waited_seconds").at("mean").get<double>(),
                late.at("waited_seconds").at("max").get<double>());
      const json phase = late.at("phases").at("second");
      EXPECT_GE(phase.at("waited_seconds").at("max").get<double>(), 0.5 * late_seconds);
      EXPECT_EQ(phase.at("messages"), team.size());
    } else {
      EXPECT_EQ(late.at("waited_seconds").at("max"), 0);
    }
    const double pages = static_cast<double>(touched_pages * static_cast<std::size_t>(team.size()));
    EXPECT_GE(faults.at("page_faults").at("minor").get<double>(), pages);
    EXPECT_LT(late.at("page_faults").at("minor").get<double>(), pages);
    for (const auto& [event, count] : late.at("hardware").items())
      EXPECT_EQ(count.is_null(),
                late.contains("hardware_why_not") && late.at("hardware_why_not").contains(event))
          << event;
  });
}

TEST(Sweep, repeats_short_operations_until_the_clock_resolves_them) {
  longshore::testing::spmd([](team& team) {
    const auto run = sweep_dummies(team, {"millisecond", "once"}, {.repetitions = 2}, 1e-3);
    const auto fine =
        sweep_dummies(team, {"millisecond"}, {.repetitions = 1, .iterations = 1}, 1e-9);
    if (team.rank() != 0) return;
    EXPECT_EQ(run.heard.result_of("once").iterations, 1);
    EXPECT_NE(run.heard.result_of("once").warning.find("100 steps of the clock"),
              std::string::npos);
    EXPECT_EQ(fine.heard.results.at(0).warning, "");
    // With more ranks than cores, a single operation may last as long as a repetition.
    EXPECT_LE(run.heard.result_of("millisecond").iterations, 5);
    EXPECT_GE(run.heard.result_of("millisecond").iterations, team.size() == 1 ? 2 : 1);
  });
}

TEST(Sweep, a_result_that_is_wrong_on_one_rank_is_wrong) {
  longshore::testing::spmd([](team& team) {
    const auto run = sweep_dummies(team, {"right", "wrong", "wrong at last"},
                                   {.repetitions = 2, .iterations = 1});
    EXPECT_EQ(run.outcome.ran, 3);
    EXPECT_EQ(run.outcome.wrong, 2);
    if (team.rank() == 0) {
      EXPECT_EQ(run.heard.result_of("right").verified, true);
      EXPECT_EQ(run.heard.result_of("wrong").verified, false);
      EXPECT_EQ(run.heard.result_of("wrong at last").verified, false);
    }
    const auto unasked = sweep_dummies(
        team, {"wrong"}, {.repetitions = 2, .iterations = 1, .verify = verification::no});
    EXPECT_EQ(unasked.outcome.wrong, 0);
    if (team.rank() != 0) return;
    EXPECT_EQ(unasked.heard.results.at(0).verified, std::nullopt);
  });
}

TEST(Sweep, a_variant_that_refuses_to_be_made_is_skipped_and_the_others_run) {
  longshore::testing::spmd([](team& team) {
    const auto run =
        sweep_dummies(team, {"a", "refused", "b"}, {.repetitions = 2, .iterations = 1});
    EXPECT_EQ(run.outcome.ran, 2);
    EXPECT_EQ(run.outcome.skipped, 1);
    if (team.rank() != 0) return;
    ASSERT_EQ(run.heard.skips.size(), 1U);
    EXPECT_EQ(run.heard.skips[0].reason, "no such thing");
    EXPECT_EQ(run.heard.samples.size(), 4U);
  });
}

TEST(Sweep, many_measurements_are_made_for_each_visit) {
  longshore::testing::spmd([](team& team) {
    std::vector<std::string> kinds;
    for (int i = 0; i < 70; ++i) kinds.push_back(std::string(1, 'k').append(std::to_string(i)));
    const auto run = sweep_dummies(team, kinds, {.repetitions = 2, .iterations = 1});
    EXPECT_LE(run.calls.max_alive, 65);
    EXPECT_EQ(run.calls.made, 3 * 70);
    EXPECT_EQ(run.calls.runs.at("k0"), 1 + 2 * 2)
        << "each visit begins with an operation that is not timed";
    if (team.rank() != 0) return;
    EXPECT_FALSE(run.heard.result_of("k69").made_once);
  });
}

TEST(Sweep, figures_that_are_not_finite_are_left_out_with_a_warning) {
  longshore::testing::spmd([](team& team) {
    const auto run = sweep_dummies(team, {"infinite"}, {.repetitions = 1, .iterations = 1}, 0);
    if (team.rank() != 0) return;
    EXPECT_TRUE(run.heard.results.at(0).metrics.empty());
    EXPECT_NE(run.heard.results.at(0).warning.find("not finite"), std::string::npos);
  });
}

// Processes in two containers of a node may have the same host name and number. Then only some
// ranks seem to share a process.
TEST(Sweep, counts_where_only_some_ranks_seem_to_share_a_process) {
  longshore::testing::spmd([](team& team) {
    process_id process = this_process(team);
    process.number = team.rank() < 2 ? 1 : 10 + team.rank();
    run_counters counters(team, hardware_events(), process);
    call_counts calls;
    dummy measured(team, json{{"kind", "a"}}, calls);
    run_counts counts;
    for (int repetition = 0; repetition < 3; ++repetition) {
      counters.start();
      measured.run();
      counters.stop(measured, 1, counts);
    }
    EXPECT_EQ(counters.per_operation(counts).at("operations"), 3);
  });
}

TEST(AgreedRequest, is_that_of_rank_0) {
  longshore::testing::spmd([](team& team) {
    const bool first = team.rank() == 0;
    agreed_request of_this_rank{
        {{"elements", {first ? 100 : 101}},
         {"domain", {json::array({1, 2, 3})}},
         {"not-given", {}}},
        {.repetitions = first ? 3 : 4, .seed = first ? 5U : 6U, .noise_probe = !first}};
    if (!first) of_this_rank.factors.pop_back();
    const auto agreed = agree_on_request(team, "dummy", of_this_rank);
    ASSERT_EQ(agreed.factors.size(), 3U);
    EXPECT_EQ(agreed.factors[0].name, "elements");
    EXPECT_EQ(json(agreed.factors[0].levels), json::parse("[100]"));
    EXPECT_EQ(json(agreed.factors[1].levels), json::parse("[[1,2,3]]"));
    EXPECT_TRUE(agreed.factors[2].levels.empty());
    EXPECT_EQ(agreed.options.repetitions, 3);
    EXPECT_EQ(agreed.options.seed, 5U);
    EXPECT_FALSE(agreed.options.noise_probe);
  });
}

TEST(AgreedRequest, for_another_pattern_is_refused_on_all_ranks) {
  longshore::testing::spmd([](team& team) {
    if (team.size() == 1) return;
    const bool last = team.rank() == team.size() - 1;
    try {
      static_cast<void>(agree_on_request(team, last ? "gather" : "halo", {}));
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), last ? errc::usage : errc::peer_failed) << e.what();
    }
    team.barrier();
  });
}

// Hosts may differ in their abilities, but all ranks sweep over the same variants.
TEST(AgreedRequest, a_variant_that_one_rank_cannot_run_is_skipped_by_all_with_its_reason) {
  longshore::testing::spmd([](team& team) {
    const int last = team.size() - 1;
    pattern measured{"p", "", {}, {}, {}, {}};
    measured.why_not = [&](const variant& v,
                           const launch_facts& launch) -> std::optional<std::string> {
      if (v.at("n") == 2) return "not on " + launch.transport;
      if (v.at("n") == 3 && team.rank() == last) return "no huge pages";
      return std::nullopt;
    };
    const std::vector<factor_levels> factors{{"n", {1, 2, 3, 4}}};
    const auto chosen = choose_variants(team, measured, factors, {.transport = "threads"});
    EXPECT_EQ(json(chosen.to_run), json::parse(R"([{"n":1},{"n":4}])"));
    ASSERT_EQ(chosen.skipped.size(), 2U);
    EXPECT_EQ(chosen.skipped[0].reason, "not on threads");
    EXPECT_EQ(chosen.skipped[1].reason,
              last == 0 ? "no huge pages" : fmt::format("on rank {}: no huge pages", last));
  });
}

// On transports whose ranks are processes, a failure ends them.
// tests/program/test_bench_failures.py tests that.
std::string failure_of(const std::string& kind) {
  try {
    runtime({.transport = "threads", .ranks = 3, .timeout_seconds = 20}).run([&](team& team) {
      static_cast<void>(sweep_dummies(team, {kind}, {.repetitions = 2, .iterations = 1}));
    });
  } catch (const error& e) {
    return std::string(name_of(e.code())).append(": ").append(e.what());
  }
  return "none";
}

TEST(Sweep, failures_name_the_variant) {
  EXPECT_EQ(failure_of("fails"), "transport: dummy kind=fails: a cable is out");
  EXPECT_EQ(failure_of("memory"),
            "out of memory: dummy kind=memory: memory ran out: use smaller sizes or fewer ranks "
            "per node");
}

}  // namespace
}  // namespace longshore::bench
