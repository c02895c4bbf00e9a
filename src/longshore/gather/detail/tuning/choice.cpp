#include <longshore/gather/detail/tuning/choice.hpp>

#include <longshore/aggregate/engine_cost.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

namespace longshore::detail {
namespace {

constexpr double tie_ratio = 1.04;         // two times with a smaller ratio count as equal
constexpr double max_range_regret = 1.05;  // of a choice for several classes, in each of them
constexpr double never = std::numeric_limits<double>::infinity();
constexpr int ranks_for_two_hops = 4, ranks_for_three_hops = 64;

// Simpler first: fewer moving parts, then less memory.
auto complexity(const gather_choice& choice) {
  constexpr gather_strategy order[] = {gather_strategy::direct,   gather_strategy::agp,
                                       gather_strategy::exstack,  gather_strategy::exstack2,
                                       gather_strategy::conveyor, gather_strategy::aggregator};
  return std::tuple(
      std::find(std::begin(order), std::end(order), choice.strategy) - std::begin(order),
      choice.hops, choice.buffer_items);
}

std::optional<engine_kind> engine_of(gather_strategy strategy) {
  switch (strategy) {
    case gather_strategy::exstack: return engine_kind::exstack;
    case gather_strategy::exstack2: return engine_kind::exstack2;
    case gather_strategy::conveyor: return engine_kind::conveyor;
    case gather_strategy::aggregator: return engine_kind::aggregator;
    default: return std::nullopt;
  }
}

// The memory of the two engines, for requests and replies. Items are at most an offset and an
// element.
std::size_t buffer_bytes(const gather_choice& choice, const gather_layout& layout,
                         std::size_t element_bytes) {
  const auto kind = engine_of(choice.strategy);
  if (!kind) return 0;
  const engine_options options{.item_bytes = 8 + element_bytes,
                               .buffer_items = choice.buffer_items,
                               .hops = choice.hops,
                               .with_source = true};
  return 2 * predict_engine_cost(*kind, options, layout.ranks, layout.node_ranks, 1).memory_bytes;
}

// For one measured choice: the ratio of its time to the best time, in each class.
struct regret_row {
  gather_choice choice;
  std::array<double, request_classes> regret;
};

std::vector<regret_row> regrets(std::span<const timed_choice> measured) {
  std::array<double, request_classes> best;
  best.fill(never);
  for (const auto& one : measured) {
    double& least = best[request_class_of(one.requests)];
    least = std::min(least, one.seconds);
  }
  std::vector<regret_row> rows;
  for (const auto& one : measured) {
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const regret_row& r) { return r.choice == one.choice; });
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {one.choice, {}});
      for (std::size_t c = 0; c < request_classes; ++c)
        row->regret[c] = best[c] == never ? 1 : never;
    }
    const std::size_t c = request_class_of(one.requests);
    row->regret[c] = one.seconds / best[c];
  }
  std::stable_sort(rows.begin(), rows.end(), [](const regret_row& a, const regret_row& b) {
    return complexity(a.choice) < complexity(b.choice);
  });
  return rows;
}

// For the classes [first, end): the simplest choice whose largest regret is smallest, and that
// regret.
std::pair<gather_choice, double> best_for(const std::vector<regret_row>& rows, std::size_t first,
                                          std::size_t end) {
  const auto worst = [=](const regret_row& row) {
    return *std::max_element(&row.regret[first], &row.regret[0] + end);
  };
  double least = never;
  for (const auto& row : rows) least = std::min(least, worst(row));
  const auto simplest = std::find_if(rows.begin(), rows.end(), [&](const regret_row& row) {
    return worst(row) <= tie_ratio * least;
  });
  return {simplest->choice, worst(*simplest)};
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
                                      std::size_t memory_bytes,
                                      std::optional<std::string> (*why_not)(gather_strategy,
                                                                            bool)) {
  using enum gather_strategy;
  std::vector<gather_choice> wanted = {{direct}, {agp}};
  for (const std::size_t items : {1024, 4096, 256, 16'384}) wanted.push_back({exstack, items});
  for (const std::size_t items : {1024, 4096}) {
    const bool several_nodes = layout.nodes > 1 && layout.node_ranks > 1;
    wanted.push_back({exstack2, items});
    if (layout.ranks >= ranks_for_two_hops) wanted.push_back({conveyor, items, 2});
    if (layout.ranks >= ranks_for_three_hops) wanted.push_back({conveyor, items, 3});
    if (several_nodes) wanted.push_back({aggregator, items});
  }
  std::vector<gather_choice> kept;
  std::size_t all_bytes = 0;
  for (const auto& choice : wanted) {
    if (why_not(choice.strategy, layout.all_reachable)) continue;
    const std::size_t bytes = buffer_bytes(choice, layout, element_bytes);
    if (bytes > memory_bytes || all_bytes + bytes > 4 * memory_bytes) continue;
    all_bytes += bytes;
    kept.push_back(choice);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const gather_choice& a, const gather_choice& b) {
    return complexity(a) < complexity(b);
  });
  return kept;
}

std::optional<choices_by_size> choices_for_all_sizes(std::span<const timed_choice> measured) {
  if (measured.empty()) return std::nullopt;
  const auto rows = regrets(measured);
  constexpr unsigned boundaries = request_classes - 1;
  std::optional<choices_by_size> found;
  for (int groups = 1; !found; ++groups) {
    double least = groups == static_cast<int>(request_classes) ? never : max_range_regret;
    // bit c: classes c and c + 1 may have different choices
    for (unsigned cuts = 0; cuts < 1U << boundaries; ++cuts) {
      if (std::popcount(cuts) + 1 != groups) continue;
      choices_by_size choices;
      double worst = 0;
      for (std::size_t first = 0, end = 0; first < request_classes; first = end) {
        do ++end;
        while (end < request_classes && (cuts >> (end - 1) & 1U) == 0);
        const auto [choice, regret] = best_for(rows, first, end);
        std::fill(&choices[first], choices.data() + end, choice);
        worst = std::max(worst, regret);
      }
      if (worst > least || (found && worst == least)) continue;
      least = worst;
      found = choices;
    }
  }
  return found;
}

}  // namespace longshore::detail
