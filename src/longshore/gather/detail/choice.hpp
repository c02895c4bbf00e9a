// What strategy auto chooses between, and how it chooses: pure functions of numbers that were
// measured, or of the layout where nothing was.
#pragma once

#include <longshore/gather/strategy.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

/// One way to do gather, scatter or an update.
struct gather_choice {
  gather_strategy strategy = gather_strategy::exstack;  ///< never automatic
  std::size_t buffer_items = 1024;                      ///< of strategies that aggregate
  int hops = 0;                                         ///< of a conveyor; 0: those of the strategy
  friend bool operator==(const gather_choice&, const gather_choice&) = default;
};

namespace detail {

/// Calls are told apart by how many requests the rank with most of them makes. One size of each
/// class is measured; the classes meet half-way between these, by ratio.
inline constexpr std::array<std::size_t, 4> measured_requests = {1000, 10'000, 100'000, 1'000'000};
inline constexpr std::size_t request_classes = measured_requests.size();
[[nodiscard]] std::size_t request_class_of(std::size_t requests) noexcept;

/// What was measured of one choice.
struct timed_choice {
  gather_choice choice;
  std::size_t requests = 0;  ///< per rank and call
  double seconds = 0;        ///< of one call on the slowest rank: the lower quartile
  int turns = 0;             ///< of so many measurements
};

/// One choice per class of requests.
using choices_by_size = std::array<gather_choice, request_classes>;

/// What a run looks like to a strategy.
struct gather_layout {
  int ranks = 1, nodes = 1, node_ranks = 1;  ///< node_ranks: of the largest node
  /// whether every rank can load from and store to the memory of every other
  bool all_reachable = true;
};

/// Where nothing was measured: loads and stores where they reach everybody; else rounds, which lost
/// to nothing by much on the machines tried so far.
[[nodiscard]] gather_choice rule_choice(const gather_layout& layout,
                                        std::size_t buffer_items = 1024) noexcept;

/// What is worth measuring, simplest first: everything that can be done (`why_not`), aggregating
/// strategies with several sizes of buffers, as long as the buffers of one choice stay within
/// `memory_bytes` and those of all within four times that.
[[nodiscard]] std::vector<gather_choice> candidates(
    const gather_layout& layout, std::size_t element_bytes, std::size_t memory_bytes,
    std::optional<std::string> (*why_not)(gather_strategy, bool));

/// The choices for what was measured: as few different ones as possible, each for classes that
/// follow each other, so that none is more than 5 % slower than the best of any of its classes. Of
/// what lies within 4 % of the best the simplest is taken. A class of which nothing was measured
/// gets what its neighbour has. Nothing: nothing was measured.
[[nodiscard]] std::optional<choices_by_size> choose(std::span<const timed_choice> measured);

}  // namespace detail
}  // namespace longshore
