// The choices of strategy auto: which choices are candidates, and which candidate is best for the
// measured times. All functions are pure.
#pragma once

#include <longshore/gather/strategy.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

/// A strategy for gather, scatter or updates, with its parameters.
struct gather_choice {
  gather_strategy strategy = gather_strategy::exstack;  ///< never automatic
  std::size_t buffer_items = 1024;                      ///< of strategies that aggregate
  int hops = 0;                                         ///< of a conveyor; 0 stands for the default
  friend bool operator==(const gather_choice&, const gather_choice&) = default;
};

namespace detail {

/// Calls are classified by the largest number of requests of a rank. Strategy auto measures one
/// number of requests in each class, here in order of the classes. Two neighbouring classes meet at
/// the geometric mean of their numbers.
inline constexpr std::array<std::size_t, 4> measured_requests = {1000, 10'000, 100'000, 1'000'000};
inline constexpr std::size_t request_classes = measured_requests.size();
[[nodiscard]] std::size_t request_class_of(std::size_t requests) noexcept;

struct timed_choice {
  gather_choice choice;
  std::size_t requests = 0;  ///< per rank and call
  double seconds = 0;        ///< per call on the slowest rank: the lower quartile
  int turns = 0;             ///< number of measured turns
};

/// Indexed by class of requests.
using choices_by_size = std::array<gather_choice, request_classes>;

/// The properties of a run on which the speed of strategies depends.
struct gather_layout {
  int ranks = 1, nodes = 1;
  int node_ranks = 1;  ///< on the node with the most ranks
  /// Whether every rank can load from and store to the memory of every other rank.
  bool all_reachable = true;
  friend bool operator==(const gather_layout&, const gather_layout&) = default;
};

/// The choice without measurements: direct if every rank can reach all memory, else exstack, which
/// was never much slower than the best strategy on the machines tried so far.
[[nodiscard]] gather_choice rule_choice(const gather_layout& layout,
                                        std::size_t buffer_items = 1024) noexcept;

/// Returns the reason why an operation cannot use a strategy, or nothing. `all_reachable`: whether
/// every rank can reach all memory.
using why_not_function = std::optional<std::string> (*)(gather_strategy, bool all_reachable);

/// The choices to measure, simplest first: all possible strategies, and several sizes of buffers
/// for strategies that aggregate. The buffers of one choice stay within `memory_bytes` per rank,
/// and the buffers of all choices within four times `memory_bytes`. `between_hosts`: whether the
/// ranks are on several hosts; the buffers are then larger.
[[nodiscard]] std::vector<gather_choice> candidates(const gather_layout& layout,
                                                    std::size_t element_bytes,
                                                    std::size_t memory_bytes,
                                                    why_not_function why_not,
                                                    bool between_hosts = false);

/// Selects as few different choices as possible. In each class of sizes, the choice is at most 5 %
/// slower than the best one. Among choices within 4 % of the best, the simplest strategy is
/// selected, with the fastest of its buffers. A class without measurements gets the choice of a
/// neighbouring class. Returns nothing if nothing was measured.
[[nodiscard]] std::optional<choices_by_size> choices_for_all_sizes(
    std::span<const timed_choice> measured);

/// The simplest strategy that is at most 4 % slower than the best one in calls of `requests`
/// requests, with the fastest of its buffers. Times are interpolated between the nearest measured
/// numbers of requests. Outside of the measured numbers the times of the nearest one count. Returns
/// nothing if no choice was measured on both sides.
[[nodiscard]] std::optional<gather_choice> choice_for_requests(
    std::span<const timed_choice> measured, std::size_t requests);

}  // namespace detail
}  // namespace longshore
