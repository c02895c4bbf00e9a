// The choices of strategy auto, and how it selects one: pure functions of measured times, or of the
// layout if nothing was measured.
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
  int hops = 0;  ///< of a conveyor; 0: the strategy's default
  friend bool operator==(const gather_choice&, const gather_choice&) = default;
};

namespace detail {

/// Calls are classified by the largest number of requests of a rank. One number of each class is
/// measured; the boundaries of classes are the geometric means of these numbers.
inline constexpr std::array<std::size_t, 4> measured_requests = {1000, 10'000, 100'000, 1'000'000};
inline constexpr std::size_t request_classes = measured_requests.size();
[[nodiscard]] std::size_t request_class_of(std::size_t requests) noexcept;

/// A measured choice.
struct timed_choice {
  gather_choice choice;
  std::size_t requests = 0;  ///< per rank and call
  double seconds = 0;        ///< per call on the slowest rank: the lower quartile
  int turns = 0;             ///< number of measurements
};

/// One choice per class of requests.
using choices_by_size = std::array<gather_choice, request_classes>;

/// The layout of a run, as far as the speed of strategies depends on it.
struct gather_layout {
  int ranks = 1, nodes = 1, node_ranks = 1;  ///< node_ranks: on the largest node
  /// whether every rank can load from and store to the memory of every other rank
  bool all_reachable = true;
};

/// The choice if nothing was measured: direct if every rank can reach all memory, else exstack,
/// which was never much slower than the best strategy on the machines tried so far.
[[nodiscard]] gather_choice rule_choice(const gather_layout& layout,
                                        std::size_t buffer_items = 1024) noexcept;

/// The choices to measure, simplest first: all strategies that are possible (`why_not`), those that
/// aggregate with several sizes of buffers. The buffers of one choice stay within `memory_bytes`,
/// and those of all choices within four times that.
[[nodiscard]] std::vector<gather_choice> candidates(
    const gather_layout& layout, std::size_t element_bytes, std::size_t memory_bytes,
    std::optional<std::string> (*why_not)(gather_strategy, bool));

/// Selects choices from measured times: as few different ones as possible, each for a range of
/// adjacent classes in which it is at most 5 % slower than the best. Among choices within 4 % of
/// the best, the simplest is taken. A class without measurements gets the choice of its neighbour.
/// Nothing if nothing was measured.
[[nodiscard]] std::optional<choices_by_size> choices_for_all_sizes(
    std::span<const timed_choice> measured);

}  // namespace detail
}  // namespace longshore
