// Chooses from measured times. The regret of a choice is its time divided by the best time for the
// same number of requests. Few choices with small regrets are preferred to many, and a simpler
// strategy is preferred if times are about equal.
#include <longshore/gather/detail/tuning/choice.hpp>

#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/engine_cost.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace longshore::detail {
namespace {

constexpr double tie_ratio = 1.04;         // Two times with a smaller ratio count as equal.
constexpr double max_range_regret = 1.05;  // of a choice for several classes, in every class
constexpr double never = std::numeric_limits<double>::infinity();
// With fewer ranks, conveyors of 2 or 3 hops are not candidates.
constexpr int ranks_for_two_hops = 4, ranks_for_three_hops = 64;

// Orders choices: first by moving parts of the strategy, then by hops, then by memory.
auto complexity(const gather_choice& choice) {
  constexpr gather_strategy order[] = {gather_strategy::direct,   gather_strategy::agp,
                                       gather_strategy::exstack,  gather_strategy::exstack2,
                                       gather_strategy::conveyor, gather_strategy::aggregator};
  return std::tuple(
      std::find(std::begin(order), std::end(order), choice.strategy) - std::begin(order),
      choice.hops, choice.buffer_items);
}

// The memory per rank of the two engines, for requests and replies. The largest item is an offset
// and an element.
std::size_t buffer_bytes(const gather_choice& choice, const gather_layout& layout,
                         std::size_t element_bytes) {
  if (!aggregates(choice.strategy)) return 0;
  const auto kind = from_name<engine_kind>(name_of(choice.strategy));
  const engine_options options{.item_bytes = 8 + element_bytes,
                               .buffer_items = choice.buffer_items,
                               .hops = choice.hops,
                               .with_source = true};
  return 2 * predict_engine_cost(kind, options, layout.ranks, layout.node_ranks, 1).memory_bytes;
}

struct candidate_regret {
  gather_choice choice;
  // Indexed by class: the ratio of the time of this choice to the best time.
  std::array<double, request_classes> regret;
};

std::vector<candidate_regret> regrets_of(std::span<const timed_choice> measured) {
  std::array<double, request_classes> best_seconds;
  best_seconds.fill(never);
  for (const auto& timed : measured) {
    double& best = best_seconds[request_class_of(timed.requests)];
    best = std::min(best, timed.seconds);
  }
  std::vector<candidate_regret> regrets;
  for (const auto& timed : measured) {
    auto candidate =
        std::find_if(regrets.begin(), regrets.end(),
                     [&](const candidate_regret& known) { return known.choice == timed.choice; });
    if (candidate == regrets.end()) {
      candidate = regrets.insert(regrets.end(), {timed.choice, {}});
      for (std::size_t c = 0; c < request_classes; ++c)
        candidate->regret[c] = best_seconds[c] == never ? 1 : never;
    }
    const std::size_t c = request_class_of(timed.requests);
    candidate->regret[c] = timed.seconds / best_seconds[c];
  }
  std::stable_sort(regrets.begin(), regrets.end(),
                   [](const candidate_regret& a, const candidate_regret& b) {
                     return complexity(a.choice) < complexity(b.choice);
                   });
  return regrets;
}

// The best choice for the classes [first, end), and its largest regret in these classes.
std::pair<gather_choice, double> best_for(const std::vector<candidate_regret>& regrets,
                                          std::size_t first, std::size_t end) {
  const auto largest_regret = [=](const candidate_regret& candidate) {
    return *std::max_element(&candidate.regret[first], &candidate.regret[0] + end);
  };
  double lowest = never;
  for (const auto& candidate : regrets) lowest = std::min(lowest, largest_regret(candidate));
  const auto simplest =
      std::find_if(regrets.begin(), regrets.end(), [&](const candidate_regret& candidate) {
        return largest_regret(candidate) <= tie_ratio * lowest;
      });
  // Choices that differ only in the size of buffers are equally simple, so the one with the lowest
  // regret is taken.
  auto chosen = simplest;
  for (auto other = simplest; other != regrets.end(); ++other)
    if (other->choice.strategy == simplest->choice.strategy &&
        other->choice.hops == simplest->choice.hops &&
        largest_regret(*other) < largest_regret(*chosen))
      chosen = other;
  return {chosen->choice, largest_regret(*chosen)};
}

}  // namespace

std::size_t request_class_of(std::size_t requests) noexcept {
  for (std::size_t c = 0; c + 1 < request_classes; ++c)
    if (static_cast<double>(requests) * static_cast<double>(requests) <
        static_cast<double>(measured_requests[c]) * static_cast<double>(measured_requests[c + 1]))
      return c;
  return request_classes - 1;
}

gather_choice rule_choice(const gather_layout& layout, std::size_t buffer_items) noexcept {
  return {layout.all_reachable ? gather_strategy::direct : gather_strategy::exstack, buffer_items,
          0};
}

std::vector<gather_choice> candidates(const gather_layout& layout, std::size_t element_bytes,
                                      std::size_t memory_bytes, why_not_function why_not,
                                      bool between_hosts) {
  using enum gather_strategy;
  std::vector<gather_choice> possible = {{direct}, {agp}};
  // Sizes of buffers, in order of priority. A network carries few large messages faster than many
  // small ones. The rounds of exstack wait for the delay of the network.
  using sizes = std::vector<std::size_t>;
  const sizes exstack_items =
                  between_hosts ? sizes{32'768, 8192, 1024} : sizes{1024, 4096, 256, 16'384},
              engine_items = between_hosts ? sizes{8192, 2048} : sizes{1024, 4096};
  for (const std::size_t items : exstack_items) possible.push_back({exstack, items});
  for (const std::size_t items : engine_items) {
    // Without hops, an aggregator is the same as an exstack2.
    const bool aggregator_has_hops = layout.nodes > 1 && layout.node_ranks > 1 &&
                                     layout.ranks > longshore::aggregator::max_ranks_of_one_hop;
    possible.push_back({exstack2, items});
    if (layout.ranks >= ranks_for_two_hops) possible.push_back({conveyor, items, 2});
    if (layout.ranks >= ranks_for_three_hops) possible.push_back({conveyor, items, 3});
    if (aggregator_has_hops) possible.push_back({aggregator, items});
  }
  // Candidates are listed by priority: if memory for all is short, the later ones are left out.
  std::vector<gather_choice> kept;
  std::size_t kept_bytes = 0;
  constexpr std::size_t candidates_in_memory = 4;  // of the largest size; smaller ones are more
  for (const auto& choice : possible) {
    if (why_not(choice.strategy, layout.all_reachable)) continue;
    const std::size_t bytes = buffer_bytes(choice, layout, element_bytes);
    if (bytes > memory_bytes || kept_bytes + bytes > candidates_in_memory * memory_bytes) continue;
    kept_bytes += bytes;
    kept.push_back(choice);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const gather_choice& a, const gather_choice& b) {
    return complexity(a) < complexity(b);
  });
  return kept;
}

std::optional<choices_by_size> choices_for_all_sizes(std::span<const timed_choice> measured) {
  if (measured.empty()) return std::nullopt;
  const auto regrets = regrets_of(measured);
  choices_by_size choices;
  for (std::size_t first = 0, end = 0; first < request_classes; first = end) {
    gather_choice choice = best_for(regrets, first, end = first + 1).first;
    // The classes [first, end) grow as long as one choice is good enough for all of them.
    for (; end < request_classes; ++end) {
      const auto [wider_choice, regret] = best_for(regrets, first, end + 1);
      if (regret > max_range_regret) break;
      choice = wider_choice;
    }
    std::fill(&choices[first], choices.data() + end, choice);
  }
  return choices;
}

std::optional<gather_choice> choice_for_requests(std::span<const timed_choice> measured,
                                                 std::size_t requests) {
  std::size_t below = 0, above = std::numeric_limits<std::size_t>::max();
  for (const auto& timed : measured) {
    if (timed.requests <= requests) below = std::max(below, timed.requests);
    if (timed.requests >= requests) above = std::min(above, timed.requests);
  }
  // A number outside of the measured numbers counts as the nearest of them.
  if (below == 0) below = above;
  if (above == std::numeric_limits<std::size_t>::max()) above = below;
  // A call takes a constant time and a time per request.
  std::vector<timed_choice> predicted;
  for (const auto& lower : measured)
    for (const auto& upper : measured) {
      if (lower.choice != upper.choice || lower.requests != below || upper.requests != above)
        continue;
      const double part = above == below ? 0
                                         : static_cast<double>(requests - below) /
                                               static_cast<double>(above - below);
      predicted.push_back({.choice = lower.choice,
                           .requests = requests,
                           .seconds = lower.seconds + part * (upper.seconds - lower.seconds)});
    }
  if (predicted.empty()) return std::nullopt;
  const std::size_t c = request_class_of(requests);
  return best_for(regrets_of(predicted), c, c + 1).first;
}

}  // namespace longshore::detail
