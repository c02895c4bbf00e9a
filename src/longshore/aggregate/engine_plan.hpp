// What an engine would cost, before it is made: links, memory, messages and their fill. Pure
// functions of numbers.
#pragma once

#include <longshore/aggregate/engine_options.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace longshore {

class node_map;

enum class engine_kind { exstack, exstack2, conveyor, aggregator };
[[nodiscard]] std::string_view name_of(engine_kind kind) noexcept;

/// One hop, per rank; of the rank with the most links where ranks differ.
struct hop_plan {
  std::size_t links = 0, offnode_links = 0;  ///< links to other nodes
  std::size_t tag_bytes = 0;                 ///< per item
  double items = 0;                          ///< that the mean rank sends over this hop
  double messages = 0;                       ///< for them: those that fill, and one last per link
  double fill = 0;                           ///< items per place in these messages, 0 to 1
};

struct engine_plan {
  std::size_t buffer_items = 0;
  std::size_t memory_bytes = 0;  ///< of buffers, per rank
  std::vector<hop_plan> hops;
};

/// The plan of `kind` with `options` (of a conveyor also hops and group_ranks) on `ranks` ranks in
/// nodes of `ranks_per_node`, each pushing `items_per_rank` items to random ranks. Throws
/// errc::usage for numbers that make no sense. Cost: O(ranks) per rank of a node.
[[nodiscard]] engine_plan plan_engine(engine_kind kind, const engine_options& options, int ranks,
                                      int ranks_per_node, double items_per_rank);

namespace detail {

/// Items per buffer so that `buffers` of them, each of bytes_per_item and some more, stay within
/// `memory_bytes`: a power of two from 1 to 1024, or `wanted` where that is not 0.
[[nodiscard]] std::size_t choose_buffer_items(std::size_t wanted, std::size_t memory_bytes,
                                              std::size_t buffers, std::size_t bytes_per_item);

}  // namespace detail
}  // namespace longshore
