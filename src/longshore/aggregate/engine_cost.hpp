// Predicts the cost of an engine by arithmetic, without making the engine.
#pragma once

#include <longshore/aggregate/engine_options.hpp>
#include <longshore/core/name_lookup.hpp>

#include <cstdint>
#include <vector>

namespace longshore {

class node_map;

enum class engine_kind { exstack, exstack2, conveyor, aggregator };
template <>
inline constexpr enum_names<4> all_names<engine_kind> = {
    "engine", {"exstack", "exstack2", "conveyor", "aggregator"}};

/// The cost of one hop for one rank.
struct hop_cost {
  std::size_t links = 0;          ///< links of the rank that has the most
  std::size_t offnode_links = 0;  ///< the same, to other nodes
  std::size_t tag_bytes = 0;      ///< per item
  double items = 0;               ///< mean of the ranks
  double messages = 0;            ///< full messages, and one last message per link
  double fill = 0;                ///< items per message / items that fit into a message, 0 to 1
};

struct engine_cost {
  std::size_t buffer_items = 0;
  std::size_t memory_bytes = 0;  ///< of the buffers of one rank
  std::vector<hop_cost> hops;
};

/// The cost of an engine of `kind` with `options` on `ranks` ranks in nodes of `ranks_per_node`, if
/// each rank pushes `items_per_rank` items to random ranks. Only a conveyor uses the options hops
/// and group_ranks. Throws errc::usage for invalid numbers. Takes O(ranks) time per rank of a node.
[[nodiscard]] engine_cost predict_engine_cost(engine_kind kind, const engine_options& options,
                                              int ranks, int ranks_per_node, double items_per_rank);

namespace detail {

/// Items per buffer: `wanted` if `wanted` is not 0. Otherwise the largest power of two up to 1024
/// with which `buffers` buffers of items of `bytes_per_item` stay within `memory_bytes`, but at
/// least 1.
[[nodiscard]] std::size_t choose_buffer_items(std::size_t wanted, std::size_t memory_bytes,
                                              std::size_t buffers, std::size_t bytes_per_item);

}  // namespace detail
}  // namespace longshore
