// The options of an aggregation engine. All ranks must choose the same.
#pragma once

#include <cstddef>

namespace longshore {

struct engine_options {
  std::size_t item_bytes = 8;
  /// Items per buffer. If 0, the engine chooses up to 1024, as memory_bytes allows.
  std::size_t buffer_items = 0;
  /// Limit for the buffers in the slots of a rank, used if buffer_items is 0. The additional buffers of
  /// links within a node (channel_end::streams) do not count.
  std::size_t memory_bytes = std::size_t{64} << 20;
  /// buffers per destination: one is filled while the others travel
  int slots = 2;
  int hops = 1;  ///< of a conveyor: 1, 2 or 3
  /// Ranks per group, of a conveyor with 2 or 3 hops. If 0, the groups are the nodes; with a single
  /// node, or one rank per node, the groups have the size that needs the fewest buffers.
  int group_ranks = 0;
  /// Of a conveyor with 3 hops: groups are the nodes, and each pair of nodes has one stream of
  /// messages each way.
  bool one_stream = false;
  /// drain() reports the source of an item also after several hops; costs up to 4 bytes per item
  bool with_source = false;
  /// a rank that is done may push again because of an item that it receives
  bool items_create_items = false;
  /// advance() sends partial buffers if no message was sent or consumed since the previous call.
  /// With items_create_items this always holds for a rank that is done.
  bool ship_when_idle = false;
  /// Items are replies to requests; set by request_reply. Where time is computed, replies cost less.
  bool carries_replies = false;
  /// The latency of one item per this number of buffers is measured. If 0, no latency is measured.
  unsigned buffers_per_timed_item = 256;
};

}  // namespace longshore
