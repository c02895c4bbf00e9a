// longshore-bench-faulty: longshore-bench with patterns that fail on request. Tests check with the
// pattern ring that failures of a run are reported, and with the patterns sort and ghost that wrong
// results are found. Built with the tests only, and never installed.
#include <longshore/core/error.hpp>

#include "commands/commands.hpp"
#include "harness/pattern.hpp"
#include "patterns/ghost/ghost_measurement.hpp"
#include "patterns/sort/sort_measurement.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

namespace longshore::bench {
namespace {

factor fixed_word(const std::string& name, const std::string& level) {
  return word_factor(name, {level}, level, "as longshore-bench has it");
}

// Passes a token around a ring of ranks through a segment. The factor "fault" selects the failure.
class ring final : public measurement {
 public:
  ring(team& team, const variant& levels)
      : team_(team),
        fault_(levels.at("fault")),
        is_last_rank_(team.rank() == team.size() - 1),
        memory_(team.allocate(levels.at("bytes"))) {}

  void reset() override { ++resets_; }
  [[nodiscard]] bool repeatable() const override { return fault_ != "once"; }
  void run() override {
    ++runs_;
    // Fails after the first run, which the sweep verifies when it prepares the variant.
    if (is_last_rank_ && runs_ > 3) misbehave();
    const int next = (team_.rank() + 1) % team_.size();
    const bool is_middle = fault_ == "flip" && is_last_rank_ && runs_ == 4;
    const std::int64_t token = is_middle ? team_.rank() ^ 1 : team_.rank();
    memory_->put(next, 0, &token, sizeof(token));
    memory_->quiet();
    team_.barrier();
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> phases() const override {
    return {{"all", 1.0}};
  }
  [[nodiscard]] bool verify() override {
    std::int64_t token = -1;
    memory_->get(team_.rank(), 0, &token, sizeof(token));
    if (fault_ == "wrong" && is_last_rank_) ++token;
    return token == (team_.rank() + team_.size() - 1) % team_.size();
  }
  [[nodiscard]] traffic moved() const override { return {1, 8, 16, 4}; }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    return {{"rate", 1 / seconds.median, "1/s"},
            {"resets", static_cast<double>(resets_), "", false},
            {"runs", static_cast<double>(runs_), "", false}};
  }

 private:
  void misbehave() {
    if (fault_ == "throw")
      fail(errc::transport, "the token fell off the ring on rank {}", team_.rank());
    if (fault_ == "die") std::raise(SIGKILL);
    if (fault_ == "stuck") std::this_thread::sleep_for(std::chrono::hours(1));
    if (fault_ == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  team& team_;
  std::string fault_;
  bool is_last_rank_;
  std::unique_ptr<segment> memory_;
  int runs_ = 0, resets_ = 0;
};

pattern ring_pattern() {
  return {.name = "ring",
          .help = "a token goes around a ring",
          .factors = {word_factor("fault",
                                  {"none", "wrong", "once", "throw", "die", "stuck", "slow", "flip",
                                   "impossible", "refused"},
                                  "none", "what goes wrong"),
                      integer_factor("bytes", "64", "of each rank's part", 8, 1L << 60),
                      triple_factor("grid-of-ranks", "", "has no effect")},
          .examples = {"longshore-bench ring --fault none"},
          .why_not = [](const variant& levels, const launch_facts&) -> std::optional<std::string> {
            if (levels.at("fault") == "impossible") return "nothing does the impossible";
            return std::nullopt;
          },
          .make = [](team& team, const variant& levels,
                     const launch_facts&) -> std::unique_ptr<measurement> {
            if (levels.at("fault") == "refused")
              fail(errc::unsupported, "refused when it was made ready");
            return std::make_unique<ring>(team, levels);
          }};
}

using spoiled_item = sorted_record<std::uint32_t, 8>;

// The stable sort of longshore-bench. The factor "fault" selects how the result of the last rank is
// changed before the verification. REQUIRES: that result has neighbours with different keys, and
// for fault "unstable" neighbours with equal keys. The default keys have both.
class spoiled_sort final : public sort_measurement<spoiled_item> {
 public:
  spoiled_sort(team& team, const variant& levels, const launch_facts& facts)
      : sort_measurement(team, levels, facts),
        fault_(levels.at("fault")),
        is_last_rank_(team.rank() == team.size() - 1) {}

 private:
  std::span<const spoiled_item> result_to_verify(std::span<const spoiled_item> sorted) override {
    spoiled_.assign(sorted.begin(), sorted.end());
    if (!is_last_rank_) return spoiled_;
    const auto differ = [](const spoiled_item& a, const spoiled_item& b) { return a.key != b.key; };
    const auto equal = [](const spoiled_item& a, const spoiled_item& b) { return a.key == b.key; };
    const auto item = std::adjacent_find(spoiled_.begin(), spoiled_.end(), differ),
               next = std::next(item);
    if (fault_ == "lost") spoiled_.erase(item);
    if (fault_ == "doubled") spoiled_.insert(item, *item);
    if (fault_ == "changed") item->key = next->key;
    if (fault_ == "swapped") std::swap(*item, *next);
    if (fault_ == "torn") std::swap(item->payload, next->payload);
    if (fault_ == "unstable") {
      const auto twin = std::adjacent_find(spoiled_.begin(), spoiled_.end(), equal);
      std::swap(*twin, *std::next(twin));
    }
    return spoiled_;
  }

  std::string fault_;
  bool is_last_rank_;
  std::vector<spoiled_item> spoiled_;
};

// A pattern whose measurements are of class `Spoiled`.
template <class Spoiled>
pattern spoiled_pattern(const std::string& name, const char* help, std::vector<factor> factors) {
  return {.name = name,
          .help = help,
          .factors = std::move(factors),
          .examples = {"longshore-bench " + name + " --fault none"},
          .why_not = {},
          .make = [](team& team, const variant& levels,
                     const launch_facts& facts) -> std::unique_ptr<measurement> {
            return std::make_unique<Spoiled>(team, levels, facts);
          }};
}

pattern spoiled_sort_pattern() {
  return spoiled_pattern<spoiled_sort>(
      "sort", "a sort whose result is changed",
      {word_factor("fault", {"none", "lost", "doubled", "changed", "swapped", "torn", "unstable"},
                   "none", "the change of the result"),
       integer_factor("keys", "1000", "per rank"),
       integer_factor("max-key", "500", "keys are below it"), fixed_word("exchange", "put-scan"),
       fixed_word("order", "round-robin"), fixed_word("scaling", "weak"),
       fixed_word("key-pattern", "uniform"), fixed_word("splitters", "equal-width"),
       fixed_word("stable", "yes"), fixed_word("tasks", "serial")});
}

// A ghost exchange of longshore-bench. The factor "fault" selects how its result is changed before
// the verification.
class spoiled_ghosts final : public ghost_measurement<double> {
 public:
  spoiled_ghosts(team& team, const variant& levels, const launch_facts& facts)
      : ghost_measurement(team, levels, facts),
        fault_(levels.at("fault")),
        is_last_rank_(team.rank() == team.size() - 1) {}

 private:
  // Changes the last of two fields on the last rank.
  void spoil(std::span<const std::span<double>> fields) override {
    if (!is_last_rank_) return;
    const std::span<double> elements = fields.back().first(owned()),
                            ghosts = fields.back().subspan(owned());
    const auto differ = [](double a, double b) { return a != b; };
    const auto ghost = std::adjacent_find(ghosts.begin(), ghosts.end(), differ);
    if (fault_ == "stale") *ghost = -1;
    if (fault_ == "swapped") std::swap(*ghost, *std::next(ghost));
    if (fault_ == "other-field") ghosts[0] = fields.front()[owned()];
    if (fault_ == "element") elements.back() += 1;
  }

  std::string fault_;
  bool is_last_rank_;
};

pattern spoiled_ghost_pattern() {
  return spoiled_pattern<spoiled_ghosts>(
      "ghost", "a ghost exchange whose result is changed",
      {word_factor("fault", {"none", "stale", "swapped", "other-field", "element"}, "none",
                   "the change of the result"),
       word_factor("operation", {"update", "accumulate"}, "update", "as longshore-bench has it"),
       integer_factor("ghosts", "50", "per rank"), integer_factor("elements", "100", "per rank"),
       integer_factor("fields", "2", "at least 2"), fixed_word("strategy", "standard"),
       fixed_word("mesh", "random"), fixed_word("placement", "linear")});
}

}  // namespace
}  // namespace longshore::bench

int main(int argc, char** argv) {
  using namespace longshore::bench;
  return run_pattern_command(
      argc, argv,
      std::vector<pattern>{ring_pattern(), spoiled_sort_pattern(), spoiled_ghost_pattern()});
}
