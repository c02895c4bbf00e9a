// Thousands of tiny runs of random engines, traffic patterns and delays, to provoke failures that
// are rare elsewhere.
//
//     engines_stress_test [--seeds N] [--first S]      prints the seed of each run that fails
#include <longshore/aggregate/engine_test.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/launch/run.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace longshore {
namespace {

using testing::item;

struct scenario {
  explicit scenario(std::uint64_t seed) {
    random_stream random(seed, 77);
    const auto pick = [&](std::uint64_t bound) { return static_cast<int>(random.below(bound)); };
    options.item_bytes = sizeof(item);
    kind = 1 + pick(3);
    options.buffer_items = static_cast<std::size_t>(1 + pick(pick(2) == 0 ? 2 : 9));
    options.slots = 1 + pick(3);
    options.hops = 1 + pick(3);
    options.group_ranks = pick(4);
    options.with_source = pick(2) == 0;
    options.items_create_items = pick(2) == 0;
    options.buffers_per_timed_item = static_cast<unsigned>(pick(3));
    aim = pick(5);
    max_items = 1 + pick(60);
    delay_one_in = pick(2) == 0 ? 1 + pick(8) : 0;
    epochs = 1 + pick(4);
    fertility = 1 + pick(5);
  }
  engine_options options;
  int kind, aim, max_items, delay_one_in, epochs;
  int fertility;  // an item creates others with this probability, in eighths
};

int destination(int aim, const team& team, random_stream& random) {
  const auto anyone = static_cast<int>(random.below(static_cast<std::uint64_t>(team.size())));
  switch (aim) {
    case 0: return 0;
    case 1: return team.rank();
    case 2: return (team.rank() + 1) % team.size();
    case 3: return random.below(10) == 0 ? anyone : team.size() - 1;
    default: return anyone;
  }
}

// One epoch of the engine. The items of each pair of ranks are numbered. Some items create others
// if the scenario allows that. The caller compares the counts after all epochs: ranks do not
// synchronise between epochs, so one rank may be an epoch ahead.
template <class Engine>
void run_epoch(team& team, Engine& engine, const scenario& scenario, int epoch,
               random_stream& random, std::vector<std::int64_t>& sent,
               std::vector<std::int64_t>& arrived) {
  std::size_t waiting = scenario.aim == 4 && random.below(4) == 0
                            ? 0
                            : random.below(static_cast<std::uint64_t>(scenario.max_items));
  bool wrong = false;
  int to = destination(scenario.aim, team, random), idle_advances = 0;
  const std::int64_t first = std::int64_t{epoch} << 32;
  waiter wait(team, "the end of a stress run");
  for (bool more = true; more;) {
    for (; waiting > 0 && engine.push(to, item{team.rank(), to, first + sent[to]});
         --waiting, to = destination(scenario.aim, team, random))
      ++sent[to];
    more = engine.advance(waiting == 0);
    // Some ranks advance for a while without draining, so messages wait over several waves of
    // counting.
    if (scenario.delay_one_in > 0 && idle_advances == 0 &&
        random.below(static_cast<std::uint64_t>(scenario.delay_one_in)) == 0)
      idle_advances = static_cast<int>(random.below(60));
    if (idle_advances > 0) {
      --idle_advances;
      std::this_thread::yield();
      continue;
    }
    const std::size_t drained = engine.template drain<item>([&](int source, const item& item) {
      wrong = wrong || item.to != team.rank() || item.number != first + arrived[item.from]++ ||
              (source != item.from && source != -1);
      if (scenario.options.items_create_items && item.number - first < 40 &&
          random.below(8) < static_cast<std::uint64_t>(scenario.fertility))
        waiting += 1 + random.below(2);
    });
    if (drained == 0) wait.pause();
  }
  if (wrong)
    throw std::runtime_error(
        "an item arrived twice, out of order, in another epoch or at the wrong rank");
  engine.restart();
}

void run_scenario(team& team, std::uint64_t seed) {
  const scenario scenario(seed);
  random_stream random(seed, static_cast<std::uint64_t>(team.rank()));
  const auto run_epochs = [&](auto&& engine) {
    using counts = std::vector<std::int64_t>;
    std::vector<counts> sent(static_cast<std::size_t>(scenario.epochs),
                             counts(static_cast<std::size_t>(team.size()))),
        arrived = sent;
    for (int k = 0; k < scenario.epochs; ++k)
      run_epoch(team, engine, scenario, k, random, sent[k], arrived[k]);
    for (int k = 0; k < scenario.epochs; ++k) {
      counts expected(arrived[k].size());
      team.alltoall(std::as_bytes(std::span(sent[k])), std::as_writable_bytes(std::span(expected)));
      if (arrived[k] != expected)
        throw std::runtime_error("the number of items that arrived is wrong");
    }
  };
  if (scenario.kind == 1) run_epochs(exstack2(team, scenario.options));
  if (scenario.kind == 2) run_epochs(conveyor(team, scenario.options));
  if (scenario.kind == 3) {  // the hops of an aggregator on more ranks
    engine_options options = scenario.options;
    options.hops = 3;
    options.one_stream = true;
    run_epochs(conveyor(team, options));
  }
}

int run_seeds(std::uint64_t first, std::uint64_t seeds) {
  int failed = 0;
  // Each start of the ranks runs several seeds, since starting costs more than a tiny run.
  constexpr std::uint64_t per_run = 50;
  for (std::uint64_t begin = first; begin < first + seeds; begin += per_run) {
    random_stream random(begin, 3);
    run_options options;
    options.transport = "threads";
    options.ranks = static_cast<int>(1 + random.below(7));
    options.ranks_per_node = static_cast<int>(random.below(4));
    options.timeout_seconds = 240;  // for a whole epoch, also on a machine full of other work
    options.pin = false;
    std::uint64_t seed = begin;
    try {
      runtime(options).run([&](team& team) {
        for (std::uint64_t s = begin; s < std::min(begin + per_run, first + seeds); ++s) {
          if (team.rank() == 0) seed = s;
          run_scenario(team, s);
        }
      });
    } catch (const std::exception& e) {
      std::fprintf(stderr, "seed %llu, near %llu, %d ranks, %d per node: %s\n",
                   static_cast<unsigned long long>(begin), static_cast<unsigned long long>(seed),
                   options.ranks, *options.ranks_per_node, e.what());
      ++failed;
    }
  }
  std::printf("%llu seeds from %llu: %d runs failed\n", static_cast<unsigned long long>(seeds),
              static_cast<unsigned long long>(first), failed);
  return failed == 0 && seeds > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace longshore

int main(int argc, char** argv) {
  std::uint64_t first = 1, seeds = 1000;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seeds") == 0) seeds = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--first") == 0) first = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return longshore::run_seeds(first, seeds);
}
