// What can be chosen of an engine. All ranks must choose the same.
#pragma once

#include <cstddef>

namespace longshore {

struct engine_options {
  std::size_t item_bytes = 8;  ///< of every item; ignored with elastic items
  std::size_t buffer_items =
      /// per destination and slot, with elastic items 8-byte words; 0: as many, up to 1024, as
      /// memory_bytes allow
      0;
  /// of all buffers of a rank, where buffer_items are chosen
  std::size_t memory_bytes = std::size_t{64} << 20;
  /// buffers per destination: one is filled while the others travel
  int slots = 2;
  int hops = 1;  ///< of a conveyor: 1, 2 or 3
  /// of a conveyor with 2 or 3 hops: ranks per group; 0: the nodes, or where there is one node or
  /// one rank per node, groups of the size with the fewest buffers
  int group_ranks = 0;
  bool one_stream =
      /// of a conveyor with 3 hops: groups are the nodes, and two nodes share one stream of
      /// messages each way
      false;
  /// drain() says who pushed an item also after several hops, for up to 2 or 4 bytes per item
  bool with_source = false;
  bool elastic = false;  ///< items of any size, by push_bytes and drain_bytes
  /// a rank that is done may push again because of an item that it received
  bool items_create_items = false;
  bool ship_when_idle =
      /// partial buffers go by an advance() before which no message was sent or consumed; so they
      /// always do where items may create items and the rank is done
      false;
  /// > 0: bound on the time that an item lies in partial buffers while ranks advance
  double steady_seconds = 0;
  /// > 0: the same in calls of advance() per hop. Of two bounds the one reached first sends.
  unsigned steady_advances = 0;
  unsigned stamp_every = 256;  ///< one item of so many buffers has its way timed; 0: none
};

}  // namespace longshore
